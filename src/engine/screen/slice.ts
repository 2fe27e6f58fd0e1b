/** A few sequences cost a thousand times what text does, and a program may print nothing else. */
const smallest = 64;
const slowMs = 4;

/** How many bytes to parse in one go next, after `slice` of them took so long. */
export function nextSlice(slice: number, tookMs: number, largest: number): number {
  if (tookMs > slowMs) return Math.max(smallest, slice >> 2);
  return tookMs < slowMs / 4 ? Math.min(largest, slice * 2) : slice;
}
