import { deferred } from '../../lib/deferred.ts';
import { abortable } from '../../system/abortable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { timings } from '../waiting/timings.ts';

const { lastingMs } = timings.submit;

/** What a person sees, as a value to compare. */
export async function picture(terminal: Terminal, signal: AbortSignal): Promise<string> {
  await terminal.sync(signal);
  const { x, y } = terminal.screen.cursor;
  return `${x},${y}\n${terminal.screen.text({ scope: 'viewport', wrap: 'keep' })}`;
}

/** True as soon as the screen differs from `before` and stays so; false at the limit. */
export async function reacts(
  terminal: Terminal,
  before: string,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock } = terminal;
  const done = deferred<boolean>();
  let timer: Disposable | undefined;
  const compare = (): void => {
    timer = undefined;
    picture(terminal, signal).then((now) => {
      if (now !== before || terminal.ended) done.resolve(true);
    }, done.reject);
  };
  const soon = (): void => {
    timer ??= clock.after(lastingMs, compare);
  };
  using _watching = terminal.feed.parseEagerly();
  using _output = terminal.output.on(soon);
  using _state = terminal.state.changed.on(soon);
  using _limit = clock.after(limitMs, () => done.resolve(false));
  try {
    // What came before this call was listening.
    soon();
    return await abortable(done.promise, signal);
  } finally {
    timer?.[Symbol.dispose]();
  }
}
