import type { Terminal } from '../terminal/terminal.ts';
import { type Holds, until } from '../waiting/until.ts';

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
  const holds = (): Holds => {
    if (terminal.ended) return true;
    const unseen = gap.drawn && terminal.log.end === gap.from;
    const gapMs = unseen ? Math.max(drawMs, gap.gapMs) : gap.gapMs;
    return Math.max(started + gapMs, (terminal.lastOutputMs ?? 0) + quietMs);
  };
  // A gap longer than the cap is kept, too.
  return await until(terminal, holds, Math.max(capMs, gap.gapMs + drawMs), signal);
}
