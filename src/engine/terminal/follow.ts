import { onAbort } from '../../system/on-abort.ts';
import type { LogRead } from './output-log.ts';
import type { Terminal } from './terminal.ts';

/** A reader gets no more at a time. */
const mostBytes = 64 << 10;

/** Something else that a reader wants to hear of between two pages of output. */
export interface Sign {
  readonly on: (listener: () => void) => Disposable;
}

/**
 * The output from this offset on, as it arrives. Nothing is buffered for a reader besides the log: one that falls behind skips
 * what the log has dropped, and `missed` says how much. Ends when the terminal has ended and all is read, or with the signal.
 * A sign in `also` is told by a page, without bytes if there are none.
 */
export async function* followOutput(
  terminal: Pick<Terminal, 'log' | 'state' | 'ended'>,
  from: number,
  signal: AbortSignal,
  also: readonly Sign[] = [],
): AsyncGenerator<LogRead, void, void> {
  const { log, state } = terminal;
  let at = Math.max(0, from);
  let wake = (): void => {};
  // The first page tells how things are.
  let isStirred = also.length > 0;
  const stir = (): void => {
    isStirred = true;
    wake();
  };
  using _append = log.onAppend.on(() => wake());
  using _also = listenTo(also, stir);
  using _end = state.changed.on(() => wake());
  using _abort = onAbort(signal, () => wake());
  while (!signal.aborted) {
    if (log.end > at || isStirred) {
      isStirred = false;
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

function listenTo(signs: readonly Sign[], listener: () => void): Disposable {
  const listening = signs.map((sign) => sign.on(listener));
  return {
    [Symbol.dispose]() {
      for (const one of listening) one[Symbol.dispose]();
    },
  };
}
