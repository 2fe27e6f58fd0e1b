/** A hung step is cut short after this time. The rest of the 2 s is slack for the timer. */
const limitMs = 1800;
/** Reserved for work after the last step. */
const reserveMs = 100;
/** While the last answers are written: the longest stall, and the longest time in all. */
const stallMs = 2200;
const longestMs = 60_000;

/** How long the end of a process may take, from the moment it begins. */
export class EndLimit {
  readonly #cut: () => void;
  #timer: NodeJS.Timeout | undefined;
  #began: number | undefined;

  /** `cut` is called when the time is over. */
  constructor(cut: () => void) {
    this.#cut = cut;
  }

  begin(): void {
    if (this.#began !== undefined) return;
    this.#began = performance.now();
    this.#arm(limitMs);
  }

  /** The client takes more of its last answers: the end may take longer. */
  goOn(): void {
    if (this.#began === undefined) return;
    this.#arm(Math.min(stallMs, this.#began + longestMs - performance.now()));
  }

  /** The time left for everything but the last answers. */
  get leftMs(): number {
    const spent = this.#began === undefined ? 0 : performance.now() - this.#began;
    return Math.max(0, limitMs - reserveMs - spent);
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#cut, ms).unref();
  }
}
