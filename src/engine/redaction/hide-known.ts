/**
 * An answer without known values: `hide` is given every text in it. Rows of a screen are read together, because a
 * value may go on in the next.
 */
export function hideKnown<T>(answer: T, hide: (text: string) => string): T {
  return hidden(answer, hide) as T;
}

function hidden(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return list(value, hide);
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, hidden(item, hide)]));
}

function list(items: readonly unknown[], hide: (text: string) => string): readonly unknown[] {
  const rows = items.map(rowText);
  if (rows.includes(undefined)) return items.map((item) => hidden(item, hide));
  const shown = hide(rows.join('\n')).split('\n');
  return items.map((item, at) =>
    typeof item === 'string' ? shown[at] : { ...(hidden(item, hide) as object), text: shown[at] },
  );
}

/** The text of what may be a row: one line, by itself or with facts about it. */
function rowText(item: unknown): string | undefined {
  const text = typeof item === 'object' && item !== null && 'text' in item ? item.text : item;
  return typeof text === 'string' && !text.includes('\n') ? text : undefined;
}
