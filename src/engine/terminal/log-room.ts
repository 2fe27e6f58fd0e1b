import type { Size } from './channel.ts';
import { type OutputLog, usualCapacity } from './output-log.ts';

/** Rows take about as many bytes as the usual log has for ten thousand rows of 120 columns: text, colours and cursor moves. */
const bytesPerCell = usualCapacity / (10_000 * 120);
/** What the logs of all terminals may hold beyond the usual: the most rows × columns that can be read back. */
export const mostExtraBytes = 256 << 20;

/**
 * How many bytes a terminal's log needs for so many readable rows, as far as the logs of the others leave room. No terminal gets less
 * than the usual.
 */
export function logCapacity(rows: number, { cols }: Size, others: Iterable<Pick<OutputLog, 'capacity'>>): number {
  let left = mostExtraBytes;
  for (const { capacity } of others) left -= Math.max(0, capacity - usualCapacity);
  const extra = Math.ceil(rows * cols * bytesPerCell) - usualCapacity;
  return usualCapacity + Math.max(0, Math.min(extra, left));
}
