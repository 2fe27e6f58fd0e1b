/** Faults of one terminal that are logged, at most. */
export const mostNoted = 10;

/**
 * Counts our faults in handling frames, per terminal. A repeat over a new connection usually succeeds; a frame that fails again
 * would be repeated for ever.
 */
export class FrameFaults {
  readonly #times = new Map<string, number>();

  /** Faults of this terminal so far, this one included. */
  count(id: string): number {
    const times = (this.#times.get(id) ?? 0) + 1;
    this.#times.set(id, times);
    return times;
  }
}
