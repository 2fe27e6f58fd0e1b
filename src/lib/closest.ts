/** Up to `limit` names close enough to `wanted` to be what was meant, nearest first; ties keep the given order. */
export function closest(wanted: string, names: Iterable<string>, limit = 3): string[] {
  const lower = wanted.toLowerCase();
  // One slip in a short word, more in a long one; for two letters every name is equally far.
  const allowed = wanted.length < 3 ? 0 : Math.max(1, Math.floor(wanted.length / 3));
  const near: { name: string; distance: number }[] = [];
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) > allowed) continue;
    const distance = editDistance(lower, name.toLowerCase());
    if (distance <= allowed) near.push({ name, distance });
  }
  near.sort((a, b) => a.distance - b.distance);
  return near.slice(0, limit).map(({ name }) => name);
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn one string into the other (optimal string alignment). */
export function editDistance(from: string, to: string): number {
  let beforeThat: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const substituted = at(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swapped = isSwap ? at(beforeThat, column - 2) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(substituted, swapped, at(previous, column) + 1, at(current, column - 1) + 1));
    }
    beforeThat = previous;
    previous = current;
  }
  return at(previous, to.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;
