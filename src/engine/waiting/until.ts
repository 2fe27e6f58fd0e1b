import { deferred } from '../../lib/deferred.ts';
import { abortable } from '../../system/abortable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { QuietTimer } from './quiet-timer.ts';

/** The answer of a condition: it holds; not yet; or it holds from this time of the monotonic clock on, if nothing happens before. */
export type Holds = boolean | number;

/**
 * Waits until a condition on a terminal holds. Asks the condition at once, after output and after a change of state. A time it
 * answers with is waited for, and believed once output that lies unread has been fetched. True when it holds; false at the
 * limit, and at the end of the terminal if it does not hold then. Rejects when the signal aborts or the condition throws.
 */
export async function until(
  terminal: Terminal,
  holds: () => Holds,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock } = terminal;
  const done = deferred<boolean>();
  let dueMs = 0;
  const ask = (isQuiet: boolean): void => {
    const answer = holds();
    if (answer === true) return done.resolve(true);
    if (terminal.ended) return done.resolve(false);
    if (answer === false) return;
    const leftMs = answer - clock.monotonic();
    if (isQuiet && leftMs <= 0) return done.resolve(true);
    // A timer that is early only asks again: a flood of output must not make one per chunk.
    if (timer.armed && dueMs <= answer) return;
    dueMs = answer;
    timer.arm(Math.max(0, leftMs));
  };
  const check = (isQuiet: boolean): void => {
    try {
      ask(isQuiet);
    } catch (thrown) {
      done.reject(thrown);
    }
  };
  using timer = new QuietTimer(terminal, () => check(true));
  using _output = terminal.output.on(() => check(false));
  using _state = terminal.state.changed.on(() => check(false));
  using _limit = clock.after(limitMs, () => done.resolve(false));
  check(false);
  return await abortable(done.promise, signal);
}
