import type { Size } from './channel.ts';
import { type OutputLog, usualCapacity } from './output-log.ts';
import type { Terminal } from './terminal.ts';

/** Rows take about as many bytes as the usual log has for ten thousand rows of 120 columns: text, colours and cursor moves. */
const bytesPerCell = usualCapacity / (10_000 * 120);
/** What the logs of all terminals may hold beyond the usual: the most rows × columns that can be read back. */
export const mostExtraBytes = 256 << 20;

interface LogHolder {
  readonly log: Pick<OutputLog, 'capacity'>;
}

/**
 * How many bytes a terminal's log needs for so many readable rows, as far as the logs of the others leave room. No terminal gets less
 * than the usual.
 */
export function logCapacity(rows: number, { cols }: Size, others: Iterable<LogHolder>): number {
  let left = mostExtraBytes;
  for (const {
    log: { capacity },
  } of others)
    left -= Math.max(0, capacity - usualCapacity);
  const extra = Math.ceil(rows * cols * bytesPerCell) - usualCapacity;
  return usualCapacity + Math.max(0, Math.min(extra, left));
}

/** Gives open terminals room for so many readable rows. Bytes that are gone do not come back. */
export function widenLogs(terminals: readonly Pick<Terminal, 'log' | 'screen'>[], rows: number): void {
  for (const terminal of terminals) {
    const others = terminals.filter((other) => other !== terminal);
    terminal.log.widen(logCapacity(rows, terminal.screen.size, others));
  }
}
