/** A client that says nothing for this long while a program waits for it is pinged; one that does not answer is silent. */
const askMs = 1000;
const silentMs = 3000;
const lookMs = 250;

interface PulseInit {
  readonly ask: () => void;
  /** Whether a program waits for the client. */
  readonly isAwaited: () => boolean;
  /** Programs no longer wait for the client. */
  readonly onSilent: () => void;
}

/** Whether a client responds: every frame counts, and a ping asks for one when it matters. */
export class Pulse implements Disposable {
  readonly #init: PulseInit;
  readonly #askers = new Set<() => void>();
  #heardMs = performance.now();
  #asked = false;
  #silent = false;
  #watch: NodeJS.Timeout | undefined;

  constructor(init: PulseInit) {
    this.#init = init;
  }

  get isSilent(): boolean {
    return this.#silent;
  }

  heard(): void {
    this.#heardMs = performance.now();
    this.#asked = false;
    this.#silent = false;
    for (const answered of this.#askers) answered();
    this.#askers.clear();
  }

  /** Whether the client says something within the time. */
  isThere(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const answered = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#askers.delete(answered);
        resolve(false);
      }, ms);
      // Two servers may ask at once: one answer serves both.
      this.#askers.add(answered);
      this.#init.ask();
    });
  }

  /** Runs only while a program waits for the client. */
  watch(): void {
    this.#watch ??= setInterval(() => {
      const quietMs = performance.now() - this.#heardMs;
      if (!this.#init.isAwaited()) {
        clearInterval(this.#watch);
        this.#watch = undefined;
      } else if (quietMs >= silentMs) {
        this.#silent = true;
        this.#init.onSilent();
      } else if (quietMs >= askMs && !this.#asked) {
        this.#asked = true;
        this.#init.ask();
      }
    }, lookMs);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#watch);
  }
}
