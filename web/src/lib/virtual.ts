/** Rows outside of what is visible that are drawn all the same, so that scrolling shows no holes. */
const spare = 8;

export interface ListWindow {
  readonly from: number;
  /** Behind the last that is drawn. */
  readonly to: number;
  /** Pixels before, after and in all. */
  readonly before: number;
  readonly after: number;
  readonly whole: number;
}

/** Which rows of a long list are drawn. */
export function windowOf<Item>(
  items: readonly Item[],
  height: (item: Item) => number,
  top: number,
  visible: number,
): ListWindow {
  const ends: number[] = [];
  let whole = 0;
  for (const item of items) ends.push((whole += height(item)));
  const first = ends.findIndex((end) => end > top);
  const beyond = ends.findIndex((end) => end >= top + visible);
  const from = Math.max(0, (first === -1 ? items.length : first) - spare);
  const to = Math.min(items.length, (beyond === -1 ? items.length : beyond + 1) + spare);
  return { from, to, before: ends[from - 1] ?? 0, after: whole - (ends[to - 1] ?? 0), whole };
}
