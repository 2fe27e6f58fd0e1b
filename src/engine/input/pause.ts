import { deferred } from '../../lib/deferred.ts';
import { QuietTimer } from '../waiting/quiet-timer.ts';
import { abortable } from '../../system/abortable.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** A program that took the text in has drawn it by then. */
const quietMs = 50;
const capMs = 2000;

/** A busy program may not have read the text yet; one that shows nothing of it is not waited for any longer. */
const drawMs = 1000;

export interface PauseOptions {
  readonly gapMs: number;
  /** The program shows what it reads: until it has, Enter would come along with the text. */
  readonly drawn: boolean;
  /** End of the output before the text was sent. */
  readonly from: number;
}

/** At least `gapMs`, and until the output is quiet, but not for ever (R-HUB-092). False when it never was quiet. */
export async function pause(terminal: Terminal, gap: PauseOptions, signal: AbortSignal): Promise<boolean> {
  const { clock } = terminal;
  const started = clock.monotonic();
  const done = deferred<boolean>();
  let seen = false;
  const check = (): void => {
    const now = clock.monotonic();
    const unseen = gap.drawn && terminal.log.end === gap.from;
    const due = Math.max(
      started + (unseen ? Math.max(drawMs, gap.gapMs) : gap.gapMs),
      (terminal.lastOutputMs ?? 0) + quietMs,
    );
    if (now >= due || terminal.ended) return done.resolve(true);
    if (now - started >= Math.max(capMs, gap.gapMs)) return done.resolve(false);
    timer.arm(due - now);
  };
  using timer = new QuietTimer(terminal, check);
  // Only what was waited for makes it earlier; what comes later is found out by the timer.
  using _output = terminal.output.on(() => {
    if (!seen) check();
    seen = true;
  });
  check();
  return await abortable(done.promise, signal);
}
