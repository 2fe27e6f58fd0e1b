import type { Overflow } from '../../reading/long-output/overflow.ts';
import type { RunningCommand } from '../../run/running-command.ts';

/** The commands that were run in a terminal. */
export class TerminalCommands {
  newest: RunningCommand | undefined;
  /** A call waits for the newest one now: one at a time. */
  isAwaited = false;
  /** What the log dropped of the newest one's output. */
  overflow: Overflow | undefined;
  /** Settles when the waits so far are over: a queued one comes after them. */
  queue: Promise<unknown> | undefined;
  /** A shell that was woken in vain: its user has a trap of its own, which must not be set off at every call. */
  unwoken:
    | { readonly shell: unknown; readonly promptAt: number | undefined; readonly looked: () => boolean }
    | undefined;

  /** The command line that runs now, if a caller gave it. */
  get running(): string | undefined {
    const { newest } = this;
    return newest && !newest.ending ? newest.command : undefined;
  }
}
