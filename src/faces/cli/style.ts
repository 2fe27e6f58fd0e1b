/** Words with colour where a person looks, plain words everywhere else. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

export function styleFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Style {
  const wanted =
    env['FORCE_COLOR'] !== undefined ||
    (stream.isTTY === true && env['NO_COLOR'] === undefined && env['TERM'] !== 'dumb');
  const paint = (code: number) => (text: string) => (wanted ? `\x1b[${code}m${text}\x1b[0m` : text);
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33), cyan: paint(36) };
}

/** Rows whose first column is padded to one width. */
export function columns(rows: readonly (readonly [string, string])[], indent = 2, gap = 2): string {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${' '.repeat(indent)}${left.padEnd(width + gap)}${right}`.trimEnd()).join('\n');
}
