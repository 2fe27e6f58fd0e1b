import type { Clock } from '../lib/clock.ts';

const spanMs = 10_000;
const mostMs = spanMs / 2;

/** How long a producer may still be stopped: at most half of any ten seconds, so that one reader cannot starve the others. */
export class BlockBudget {
  readonly #clock: Clock;
  #stops: { readonly from: number; to: number }[] = [];
  #stoppedAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on, if it is not stopped already. */
  get leftMs(): number {
    const now = this.#clock.monotonic();
    this.#stops = this.#stops.filter(({ to }) => to > now - spanMs);
    const used = this.#stops.reduce((sum, { from, to }) => sum + to - Math.max(from, now - spanMs), 0);
    return Math.max(0, mostMs - used);
  }

  start(): void {
    this.#stoppedAt ??= this.#clock.monotonic();
  }

  /** How long it was stopped. */
  stop(): number {
    if (this.#stoppedAt === undefined) return 0;
    const [from, to] = [this.#stoppedAt, this.#clock.monotonic()];
    this.#stoppedAt = undefined;
    this.#stops.push({ from, to });
    return to - from;
  }
}
