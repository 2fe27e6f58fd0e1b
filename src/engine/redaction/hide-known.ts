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
  if (!items.every((item) => typeof item === 'string' && !item.includes('\n'))) {
    return items.map((item) => hidden(item, hide));
  }
  const text = items.join('\n');
  const shown = hide(text);
  return shown === text ? items : shown.split('\n');
}
