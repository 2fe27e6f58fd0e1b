import { deferred } from '../../lib/deferred.ts';
import { abortable } from '../settle.ts';
import type { Terminal } from '../terminal.ts';

/** A program that took the text in has drawn it by then. */
const quietMs = 50;
const capMs = 2000;

/** At least `gapMs`, and until the output is quiet, but not for ever (R-HUB-092). False when it never was quiet. */
export async function pause(terminal: Terminal, gapMs: number, signal: AbortSignal): Promise<boolean> {
  const { clock } = terminal;
  const started = clock.monotonic();
  const done = deferred<boolean>();
  let timer: Disposable | undefined;
  const check = (): void => {
    const now = clock.monotonic();
    const due = Math.max(started + gapMs, (terminal.lastOutputMs ?? 0) + quietMs);
    if (now >= due || terminal.ended) return done.resolve(true);
    if (now - started >= Math.max(capMs, gapMs)) return done.resolve(false);
    timer = clock.after(due - now, look);
  };
  // On a busy machine output may lie unread while the timer runs out: fetch it before believing in the silence.
  const look = (): void => {
    terminal.flush();
    setImmediate(check);
  };
  try {
    check();
    return await abortable(done.promise, signal);
  } finally {
    timer?.[Symbol.dispose]();
  }
}
