import type { Clock } from '../../../lib/clock.ts';

/** A limit that does not run while a person is being asked. */
export class Deadline implements Disposable {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #leftMs: number;
  #startedAt = 0;
  #timer: Disposable | undefined;
  #disposed = false;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#leftMs = ms;
    this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it is this limit that was reached. */
  get passed(): boolean {
    return this.#controller.signal.aborted;
  }

  async pausedFor<T>(work: () => Promise<T>): Promise<T> {
    this.#stop();
    try {
      return await work();
    } finally {
      this.#start();
    }
  }

  #start(): void {
    // What was asked of the person may come to its end after everything else has.
    if (this.#disposed) return;
    this.#startedAt = this.#clock.monotonic();
    this.#timer = this.#clock.after(this.#leftMs, () => this.#controller.abort(new Error('Out of time.')));
  }

  #stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#leftMs = Math.max(0, this.#leftMs - (this.#clock.monotonic() - this.#startedAt));
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#timer?.[Symbol.dispose]();
  }
}
