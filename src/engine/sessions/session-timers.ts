import type { Client } from '../call/call.ts';
import type { Engine } from '../engine.ts';
import { recordingOf } from '../recording/recording-of.ts';
import { activityOf } from '../terminal/activity.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { silentClientMs } from './default-session.ts';
import { closedIdle, letGo, type PastWords } from './past-sessions.ts';

export interface TimedSessions {
  readonly isOpen: (terminal: Terminal) => boolean;
  /** It is the default session of this client. */
  readonly isDefaultOf: (terminal: Terminal, client: Client) => boolean;
  readonly close: (terminal: Terminal, words: PastWords) => void;
}

const endedMs = 600_000;
/** A default session whose client has left is closed after being idle for so long at least. */
const leftIdleMs = 600_000;

/** Closes sessions that are idle for too long, and those that ended a while ago. One timer for each at most. */
export class SessionTimers implements Disposable {
  readonly #engine: Engine;
  readonly #idleMs: number;
  readonly #sessions: TimedSessions;
  readonly #timers = new Map<string, Disposable>();

  /** `idleMs`: 0 means never. */
  constructor(engine: Engine, idleMs: number, sessions: TimedSessions) {
    this.#engine = engine;
    this.#idleMs = idleMs;
    this.#sessions = sessions;
  }

  /** Idle means no call and no output and no foreground command and no recording. */
  closeWhenIdle(terminal: Terminal, client?: Client): void {
    // Sessions that clients did not ask for must not pile up after them, also where those they asked for stay.
    const limitMs = client ? Math.max(this.#idleMs, client.leaves ? leftIdleMs : silentClientMs) : this.#idleMs;
    if (limitMs === 0) return;
    const look = (): void => {
      const busy = this.#isBusy(terminal, client);
      const idle = this.#engine.clock.now() - terminal.usage.lastAt;
      if (!busy && idle >= limitMs) this.#sessions.close(terminal, closedIdle(Math.round(idle / 1000)));
      else this.#arm(terminal, busy ? limitMs : limitMs - idle, look);
    };
    this.#arm(terminal, limitMs, look);
  }

  /** What has ended stays readable for a while, whatever the idle limit is. */
  closeAfterEnd(terminal: Terminal): void {
    const { clock } = this.#engine;
    terminal.state.keptMs = endedMs;
    const arm = (): void => {
      if (!terminal.ended || !this.#sessions.isOpen(terminal)) return;
      listening[Symbol.dispose]();
      const leftMs = endedMs - (clock.now() - (terminal.state.endedAt ?? clock.now()));
      this.#arm(terminal, leftMs, () => this.#sessions.close(terminal, letGo(terminal)));
    };
    const listening = terminal.state.changed.on(arm);
    arm();
  }

  stop({ id }: Terminal): void {
    this.#timers.get(id)?.[Symbol.dispose]();
    this.#timers.delete(id);
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#timers.clear();
  }

  #arm(terminal: Terminal, ms: number, run: () => void): void {
    this.stop(terminal);
    const due = (): void => {
      if (this.#sessions.isOpen(terminal)) run();
    };
    this.#timers.set(terminal.id, this.#engine.clock.after(Math.max(ms, 1), due));
  }

  #isBusy(terminal: Terminal, client: Client | undefined): boolean {
    const recorded = recordingOf(terminal.id, this.#engine);
    // Its client is there, and may come back to it.
    const isAwaited = client?.leaves === true && this.#sessions.isDefaultOf(terminal, client);
    return isInUse(terminal) || recorded !== undefined || isAwaited;
  }
}

/** A command or program runs in it. If that is invisible, the requested program counts, if there was one. */
function isInUse(terminal: Terminal): boolean {
  if (terminal.state.current === 'needs_person' || terminal.state.current === 'needs_input') return true;
  const { idle, source } = activityOf(terminal);
  return !idle && (source !== 'process_name' || terminal.identity.launch.command !== undefined);
}
