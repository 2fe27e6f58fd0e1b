import { timings } from '../waiting/timings.ts';
import type { Clock } from '../../lib/clock.ts';
import { chores } from '../../system/chores.ts';

export interface ForegroundWatchInit {
  readonly clock: Clock;
  /** What the foreground program may have changed with. */
  readonly signs: readonly { readonly on: (listener: () => void) => Disposable }[];
  /** The answer matters, and nothing else tells it. */
  readonly isNeeded: () => boolean;
  readonly look: () => void;
}

const { gapsMs } = timings.foreground;

/** Looks at the foreground program a few times after output and input, and never while nothing happens. */
export class ForegroundWatch implements Disposable {
  readonly #init: ForegroundWatchInit;
  readonly #listening: Disposable[];
  #timer: Disposable | undefined;
  #next = 0;
  #isStirred = false;

  constructor(init: ForegroundWatchInit) {
    this.#init = init;
    this.#listening = init.signs.map((sign) => sign.on(() => this.#stir()));
  }

  [Symbol.dispose](): void {
    for (const listening of this.#listening) listening[Symbol.dispose]();
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #stir(): void {
    this.#isStirred = true;
    // A flood restarts nothing.
    if ((this.#timer && this.#next <= 1) || !this.#init.isNeeded()) return;
    this.#arm(0);
  }

  #arm(next: number): void {
    const gapMs = gapsMs[next];
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#next = next;
    this.#isStirred = false;
    if (gapMs === undefined) return;
    this.#timer = this.#init.clock.after(gapMs, () => {
      this.#timer = chores.add(() => this.#look());
    });
  }

  #look(): void {
    this.#timer = undefined;
    if (!this.#init.isNeeded()) return;
    this.#arm(this.#isStirred ? 1 : this.#next + 1);
    this.#init.look();
  }
}
