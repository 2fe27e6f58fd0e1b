/** How long chores of all terminals together may hold the event loop in one turn. */
const turnMs = 4;

/**
 * Work that terminals do by themselves, and that no caller waits for. A hundred of them may become due at once; a few are
 * done in each turn of the event loop, after output and calls that have arrived.
 */
export class Chores {
  readonly #now: () => number;
  readonly #waiting = new Set<() => void>();
  #immediate: NodeJS.Immediate | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  add(run: () => void): Disposable {
    const chore = (): void => run();
    this.#waiting.add(chore);
    this.#arm();
    return { [Symbol.dispose]: () => void this.#waiting.delete(chore) };
  }

  #arm(): void {
    if (!this.#immediate) this.#immediate = setImmediate(() => this.#run());
  }

  #run(): void {
    this.#immediate = undefined;
    const end = this.#now() + turnMs;
    try {
      for (const chore of this.#waiting) {
        this.#waiting.delete(chore);
        chore();
        if (this.#now() >= end) break;
      }
    } finally {
      if (this.#waiting.size > 0) this.#arm();
    }
  }
}

/** Of all terminals of this process. */
export const chores = new Chores();
