import type { Terminal } from '../terminal/terminal.ts';

/**
 * Looks after a time without output. On a busy machine output may lie unread while the time runs out: it is fetched
 * before the silence counts.
 */
export class QuietTimer implements Disposable {
  readonly #terminal: Terminal;
  readonly #look: () => void;
  #timer: Disposable | undefined;
  #over = false;

  constructor(terminal: Terminal, look: () => void) {
    this.#terminal = terminal;
    this.#look = look;
  }

  /** It is going to look. */
  get armed(): boolean {
    return this.#timer !== undefined;
  }

  /** Instead of the time it had. */
  arm(ms: number): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#terminal.clock.after(ms, () => this.#fetch());
  }

  #fetch(): void {
    const fetched = (): void => void setImmediate(() => this.#due());
    // Where nothing can be fetched, what is there is looked at.
    new Promise((resolve) => resolve(this.#terminal.feed.flush())).then(fetched, fetched);
  }

  #due(): void {
    if (this.#over) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#look();
  }

  [Symbol.dispose](): void {
    this.#over = true;
    this.#timer?.[Symbol.dispose]();
  }
}
