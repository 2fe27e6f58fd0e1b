import { onAbort } from '../../system/on-abort.ts';
import type { LogRead } from './output-log.ts';
import type { Terminal } from './terminal.ts';

/** A reader gets no more at a time. */
const mostBytes = 64 << 10;

/**
 * The output from this offset on, as it arrives. Nothing is buffered for a reader besides the log: one that falls behind skips
 * what the log has dropped, and `missed` says how much. Ends when the terminal has ended and all is read, or with the signal.
 */
export async function* followOutput(
  terminal: Pick<Terminal, 'log' | 'state' | 'ended'>,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<LogRead, void, void> {
  const { log, state } = terminal;
  let at = Math.max(0, from);
  let wake = (): void => {};
  using _append = log.onAppend.on(() => wake());
  using _end = state.changed.on(() => wake());
  using _abort = onAbort(signal, () => wake());
  while (!signal.aborted) {
    if (log.end > at) {
      const read = log.read(at, log.end, mostBytes);
      at = read.from + read.bytes.length;
      yield read;
    } else if (terminal.ended) return;
    else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}
