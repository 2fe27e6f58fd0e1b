/** After so many with one terminal a log has heard enough. */
export const mostNoted = 10;

/**
 * How often we made a mistake with what was said of a terminal. Told again over a new connection most of it goes well; what does
 * not would be told again for ever.
 */
export class FrameFaults {
  readonly #times = new Map<string, number>();

  /** How many there were with this terminal, with this one. */
  count(id: string): number {
    const times = (this.#times.get(id) ?? 0) + 1;
    this.#times.set(id, times);
    return times;
  }
}
