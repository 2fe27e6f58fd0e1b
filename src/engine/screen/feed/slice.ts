import type { Size } from '../../terminal/channel.ts';

/** A few sequences cost a thousand times what text does, and a program may print nothing else. */
const smallest = 64;
const slowMs = 4;

/** An ordinary screen, and what is parsed on it before the clock is looked at for the first time. */
const ordinaryCells = 160 * 60;
const firstBytes = 4 << 10;

/** How many bytes to parse in one go at first: what a reset or a scroll costs grows with the screen. */
export function firstSlice({ cols, rows }: Size): number {
  const share = Math.min(1, ordinaryCells / (cols * rows));
  return Math.max(smallest, Math.round(firstBytes * share));
}

/** How many bytes to parse in one go next, after `slice` of them took so long. */
export function nextSlice(slice: number, tookMs: number, largest: number): number {
  if (tookMs > slowMs) return Math.max(smallest, slice >> 2);
  return tookMs < slowMs / 4 ? Math.min(largest, slice * 2) : slice;
}
