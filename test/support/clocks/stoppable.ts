import { systemClock } from '../../../src/system/clock.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { ManualClock } from './manual.ts';

/** The time of the system until it is stopped; from then on it stands still until told, and so do all who wait for it. */
export class StoppableClock implements Clock {
  readonly #waiting = new Set<{ readonly at: number; readonly run: () => void; timer: Disposable }>();
  #stopped: { readonly clock: ManualClock; readonly at: number } | undefined;

  now(): number {
    return this.#stopped?.clock.now() ?? systemClock.now();
  }

  monotonic(): number {
    return this.#stopped ? this.#stopped.at + this.#stopped.clock.monotonic() : systemClock.monotonic();
  }

  after(ms: number, run: () => void): Disposable {
    const due = (): void => {
      this.#waiting.delete(one);
      run();
    };
    const one = { at: this.monotonic() + ms, run: due, timer: (this.#stopped?.clock ?? systemClock).after(ms, due) };
    this.#waiting.add(one);
    return {
      [Symbol.dispose]: () => {
        this.#waiting.delete(one);
        one.timer[Symbol.dispose]();
      },
    };
  }

  stop(): void {
    const clock = new ManualClock(systemClock.now());
    const at = systemClock.monotonic();
    this.#stopped = { clock, at };
    for (const one of this.#waiting) {
      one.timer[Symbol.dispose]();
      one.timer = clock.after(Math.max(0, one.at - at), one.run);
    }
  }

  advance(ms: number): void {
    this.#stopped?.clock.advance(ms);
  }
}
