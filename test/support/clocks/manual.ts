import type { Clock } from '../../../src/lib/clock.ts';

/** Time that stands still until told, for tests; `run` fires what is due on the way. */
export class ManualClock implements Clock {
  readonly #epoch: number;
  #now = 0;
  readonly #timers = new Set<{ at: number; run: () => void }>();

  /** It began at `epoch`, in ms since 1970. */
  constructor(epoch = 0) {
    this.#epoch = epoch;
  }

  get timers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#epoch + this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): Disposable {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
    }
    this.#now = until;
  }
}
