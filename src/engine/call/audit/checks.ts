import { abortable } from '../../../system/abortable.ts';
import { type CheckedTrail, checkTrail } from './verify.ts';

export interface DoneCheck {
  readonly found: CheckedTrail;
  readonly at: Date;
}

/** Checks of the trail by a running server: one at a time, shared by all who wait for it, and remembered. */
export class TrailChecks implements Disposable {
  readonly #root: string;
  readonly #ending = new AbortController();
  #last: DoneCheck | undefined;
  #running: Promise<DoneCheck> | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** A check that is at most so old: the last one, or a new one. Aborting stops the wait. */
  async within(maxAgeMs: number, now: Date, signal: AbortSignal): Promise<DoneCheck> {
    if (this.#last && maxAgeMs > 0 && now.getTime() - this.#last.at.getTime() <= maxAgeMs) return this.#last;
    if (!this.#running) {
      const running = this.#check(now).finally(() => {
        this.#running = undefined;
      });
      // Its callers may have left when it fails.
      running.catch(() => {});
      this.#running = running;
    }
    return await abortable(this.#running, signal);
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
  }

  async #check(now: Date): Promise<DoneCheck> {
    const found = await checkTrail(this.#root, this.#ending.signal, now);
    this.#last = { found, at: now };
    return this.#last;
  }
}
