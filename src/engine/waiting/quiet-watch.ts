import { QuietTimer } from './quiet-timer.ts';
import { unwanted } from '../../system/abortable.ts';
import type { Terminal } from '../terminal/terminal.ts';

/**
 * Looks each time the terminal has been quiet for a while after output, and once for the time from `since`, now by default. One timer,
 * whatever the output; nothing happens while nothing is printed. A failed look is no look.
 */
export function afterQuiet(
  terminal: Terminal,
  quietMs: number,
  look: (signal: AbortSignal) => Promise<void> | void,
  since: number = terminal.clock.monotonic(),
): Disposable {
  const { clock } = terminal;
  /** Created on demand: most commands end before it is needed. */
  let looking: AbortController | undefined;
  const timer = new QuietTimer(terminal, () => {
    const left = Math.max(since, terminal.usage.lastOutputMs ?? 0) + quietMs - clock.monotonic();
    if (left > 0) return timer.arm(left);
    looking ??= new AbortController();
    Promise.resolve(look(looking.signal)).catch(() => {});
  });
  const output = terminal.output.on(() => {
    if (!timer.armed) timer.arm(quietMs);
  });
  timer.arm(Math.max(0, since + quietMs - clock.monotonic()));
  return {
    [Symbol.dispose]: () => {
      output[Symbol.dispose]();
      timer[Symbol.dispose]();
      looking?.abort(unwanted);
    },
  };
}
