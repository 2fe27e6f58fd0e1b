/** How long reading, and what is done at once with what was read, may hold the event loop, all terminals together. */
const turnMs = 16;

/** Shares one turn of the event loop between all terminals that print: with fifty of them, each reads less at a time. */
export class ReadTurn {
  readonly #now: () => number;
  #start: number | undefined;
  /** How many terminals have read in this turn, and how many did in the last one. */
  #readers = 0;
  #expected = 1;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Until when the next terminal may read on. Each has an equal part of the turn; time that the terminals before it left over
   * is its own, and time that they took too much is not.
   */
  next(): number {
    if (this.#start === undefined) {
      this.#start = this.#now();
      setImmediate(() => this.#over());
    }
    this.#readers += 1;
    return this.#start + (turnMs * this.#readers) / Math.max(this.#readers, this.#expected);
  }

  #over(): void {
    this.#expected = this.#readers;
    this.#readers = 0;
    this.#start = undefined;
  }
}

/** Of all terminals of this process. */
export const readTurn = new ReadTurn();
