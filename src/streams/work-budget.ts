import type { Clock } from '../lib/clock.ts';

/** The part of all time that filters may take while output arrives. */
const share = 0.2;
/** What they may have saved up for one go. */
const mostMs = 5;

/** How long the filters of all lanes may hold the main loop while output arrives. What they do not get to is judged when it is read. */
export class WorkBudget {
  readonly #clock: Clock;
  #leftMs = mostMs;
  #countedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#countedAt = clock.monotonic();
  }

  /** Runs this, which looks at `isTired` from time to time and then comes to an end. */
  spend<T>(work: (isTired: () => boolean) => T): T {
    const began = this.#clock.monotonic();
    this.#leftMs = Math.min(mostMs, this.#leftMs + (began - this.#countedAt) * share);
    this.#countedAt = began;
    const spent = (): number => this.#clock.monotonic() - began;
    try {
      return work(() => spent() >= this.#leftMs);
    } finally {
      this.#leftMs -= spent();
    }
  }
}
