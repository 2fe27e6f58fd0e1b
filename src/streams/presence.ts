import type { Clock } from '../lib/clock.ts';

/** After its last stream closed, a client may open another one, or ask something, for so long. */
const returnMs = 30_000;
/** One that never had a stream is there as long as it asks this often. */
const askMs = 300_000;

/** Whether a client of HTTP is still there: it opens streams and sends requests, and says nothing when it leaves. */
export class Presence implements Disposable {
  readonly #clock: Clock;
  readonly #changed: (isAway: boolean) => void;
  #streams = 0;
  #hadStream = false;
  #isAway = false;
  #isOver = false;
  #timer: Disposable | undefined;

  constructor(clock: Clock, changed: (isAway: boolean) => void) {
    this.#clock = clock;
    this.#changed = changed;
    this.#wait();
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** It asked for something. */
  touch(): void {
    if (this.#streams === 0) this.#wait();
    this.#set(false);
  }

  /** How many streams it has open. */
  set streams(count: number) {
    const before = this.#streams;
    this.#streams = count;
    if (count > 0) {
      this.#hadStream = true;
      this.#timer?.[Symbol.dispose]();
      this.#set(false);
    } else if (before > 0) this.#wait();
  }

  get streams(): number {
    return this.#streams;
  }

  #wait(): void {
    this.#timer?.[Symbol.dispose]();
    // The streams of a client close after it has ended.
    if (this.#isOver) return;
    this.#timer = this.#clock.after(this.#hadStream ? returnMs : askMs, () => this.#set(true));
  }

  #set(isAway: boolean): void {
    if (this.#isAway === isAway || this.#isOver) return;
    this.#isAway = isAway;
    this.#changed(isAway);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#timer?.[Symbol.dispose]();
  }
}
