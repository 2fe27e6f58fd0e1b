/** Up to `limit` names close enough to `wanted` to be what was meant, nearest first; ties keep the given order. */
export function closest(wanted: string, names: Iterable<string>, limit = 3): string[] {
  const lower = wanted.toLowerCase();
  const allowed = Math.max(2, Math.floor(wanted.length / 3));
  const near: { name: string; distance: number }[] = [];
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) > allowed) continue;
    const distance = editDistance(lower, name.toLowerCase());
    if (distance <= allowed) near.push({ name, distance });
  }
  near.sort((a, b) => a.distance - b.distance);
  return near.slice(0, limit).map(({ name }) => name);
}

/** Levenshtein: insertions, deletions and substitutions that turn one string into the other. */
export function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const substituted = at(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(substituted, at(previous, column) + 1, at(current, column - 1) + 1));
    }
    previous = current;
  }
  return at(previous, to.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;
