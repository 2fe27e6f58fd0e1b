import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/** The end of a server: calls are told to stop waiting while their answers can still be written. */
export class CallsEnd {
  readonly #abort = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor() {
    // Every call under way listens: their number is no sign of a leak.
    setMaxListeners(0, this.#abort.signal);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Returns the promise, and waits for it at the end. */
  async attend<T>(call: Promise<T>): Promise<T> {
    this.#underWay.add(call);
    try {
      return await call;
    } finally {
      this.#underWay.delete(call);
    }
  }

  begin(reason: string): void {
    this.#abort.abort(new Error(reason));
  }

  /** Resolves when every call that was under way has answered, or after `ms`. */
  async answered(ms: number): Promise<void> {
    const enough = new AbortController();
    const limit = delay(ms, undefined, { signal: enough.signal }).catch(() => {});
    await Promise.race([Promise.allSettled(this.#underWay), limit]);
    enough.abort();
    // A handler that has returned is not yet an answer that is written.
    await nextTurn();
  }
}
