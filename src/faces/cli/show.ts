import type { Style } from './style.ts';

/** Any answer, for people: lists of things as a table, other facts one a line. */
export function show(answer: unknown, style: Style): string {
  if (Array.isArray(answer)) return table(answer, style);
  if (typeof answer !== 'object' || answer === null) return String(answer);
  return Object.entries(answer)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => entry(name, value, style))
    .join('\n');
}

function entry(name: string, value: unknown, style: Style): string {
  if (Array.isArray(value) && value.some((one) => typeof one === 'object')) {
    return `${style.bold(name)}\n${table(value, style)}`;
  }
  if (Array.isArray(value)) return value.length === 0 ? `${name}: none` : `${name}: ${value.join(', ')}`;
  if (typeof value === 'object' && value !== null) {
    const inner = show(value, style).replace(/^/gm, '  ');
    return inner.trim() === '' ? `${name}: none` : `${name}\n${inner}`;
  }
  const text = String(value);
  return text.includes('\n') ? `${name}:\n${text}` : `${name}: ${text}`;
}

/** Wider tables are unreadable. */
const mostColumns = 8;
const widestCell = 60;

function table(rows: readonly unknown[], style: Style): string {
  if (rows.length === 0) return style.dim('none');
  const records = rows.map((row) => (typeof row === 'object' && row !== null ? flat(row) : { value: String(row) }));
  const all = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const names = all.slice(0, mostColumns);
  const cells = records.map((record) => names.map((name) => cell((record as Record<string, string>)[name] ?? '')));
  const isCut = all.length > mostColumns || cells.flat().some((text) => text.endsWith('…'));
  const widths = names.map((name, at) => Math.max(name.length, ...cells.map((line) => line[at]?.length ?? 0)));
  const line = (words: readonly string[]): string =>
    words
      .map((word, at) => word.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  const note = isCut ? [style.dim('(cut; --json shows everything)')] : [];
  return [style.dim(line(names)), ...cells.map(line), ...note].join('\n');
}

/** One level deep: `shell.cwd`. */
function flat(row: object): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(row) as [string, unknown][]) {
    if (value === undefined || value === null) continue;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      result[name] = String(value);
    else if (Array.isArray(value))
      result[name] = value.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))).join(', ');
    else
      for (const [inner, deep] of Object.entries(value))
        if (typeof deep !== 'object') result[`${name}.${inner}`] = String(deep);
  }
  return result;
}

function cell(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > widestCell ? `${line.slice(0, widestCell - 1)}…` : line;
}
