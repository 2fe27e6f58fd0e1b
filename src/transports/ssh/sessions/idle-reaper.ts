import type { Clock } from '../../../lib/clock.ts';
import type { LiveSession } from './live-session.ts';

/** Ends sessions that are idle for too long, with one timer for all. */
export class IdleReaper implements Disposable {
  readonly #clock: Clock;
  readonly #sessions: ReadonlyMap<string, LiveSession>;
  #timer: Disposable | undefined;
  #over = false;

  constructor(clock: Clock, sessions: ReadonlyMap<string, LiveSession>) {
    this.#clock = clock;
    this.#sessions = sessions;
  }

  /** Call it when a session opens or falls idle. */
  arm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (this.#over) return;
    const left = [...this.#sessions.values()].flatMap(({ idleLeftMs }) => idleLeftMs ?? []);
    if (left.length > 0) this.#timer = this.#clock.after(Math.max(1, Math.min(...left)), () => this.#reap());
  }

  [Symbol.dispose](): void {
    this.#over = true;
    this.#timer?.[Symbol.dispose]();
  }

  #reap(): void {
    const idle = [...this.#sessions.values()].filter(({ idleLeftMs }) => idleLeftMs !== undefined && idleLeftMs <= 0);
    for (const session of idle) session.end({ by: 'idle' }).catch(() => {});
    this.arm();
  }
}
