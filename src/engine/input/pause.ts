import type { Terminal } from '../terminal/terminal.ts';
import { type Holds, until } from '../waiting/until.ts';
import { timings } from '../waiting/timings.ts';

const { quietMs, capMs, drawMs } = timings.submit;

interface PauseOptions {
  readonly gapMs: number;
  /** The program shows what it reads: until it has, Enter would come along with the text. */
  readonly drawn: boolean;
  /** End of the output before the text was sent. */
  readonly from: number;
}

/** At least `gapMs`, and until the output is quiet, but not for ever. False when it never was quiet. */
export async function pause(terminal: Terminal, gap: PauseOptions, signal: AbortSignal): Promise<boolean> {
  const { clock } = terminal;
  const started = clock.monotonic();
  const holds = (): Holds => {
    if (terminal.ended) return true;
    const unseen = gap.drawn && terminal.log.end === gap.from;
    const gapMs = unseen ? Math.max(drawMs, gap.gapMs) : gap.gapMs;
    return Math.max(started + gapMs, (terminal.usage.lastOutputMs ?? 0) + quietMs);
  };
  // A gap longer than the cap is kept, too.
  return await until(terminal, holds, Math.max(capMs, gap.gapMs + drawMs), signal);
}
