import { timings } from '../../waiting/timings.ts';
import { chores } from '../../../system/chores.ts';
import type { Terminal } from '../terminal.ts';

const { gapsMs } = timings.foreground;

/** Looks at the foreground program a few times after output and input, and never while nothing happens. */
export class ForegroundWatch implements Disposable {
  readonly #terminal: Terminal;
  readonly #listening: Disposable[];
  #timer: Disposable | undefined;
  #next = 0;
  #isStirred = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    const stir = (): void => this.#stir();
    this.#listening = terminal.process ? [terminal.output.on(stir), terminal.input.events.on(stir)] : [];
  }

  [Symbol.dispose](): void {
    for (const listening of this.#listening) listening[Symbol.dispose]();
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #stir(): void {
    this.#isStirred = true;
    // A flood restarts nothing.
    if ((this.#timer && this.#next <= 1) || !this.#isNeeded()) return;
    this.#arm(0);
  }

  #arm(next: number): void {
    const gapMs = gapsMs[next];
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#next = next;
    this.#isStirred = false;
    if (gapMs === undefined) return;
    this.#timer = this.#terminal.clock.after(gapMs, () => {
      this.#timer = chores.add(() => this.#look());
    });
  }

  #look(): void {
    this.#timer = undefined;
    if (!this.#isNeeded()) return;
    this.#arm(this.#isStirred ? 1 : this.#next + 1);
    this.#terminal.state.check();
    this.#terminal.state.title.check();
  }

  /** No mark tells what the listeners see. */
  #isNeeded(): boolean {
    const { state } = this.#terminal;
    return state.isUnmarked || state.title.isUntold;
  }
}
