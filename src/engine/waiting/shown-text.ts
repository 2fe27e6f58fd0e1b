import type { Terminal } from '../terminal/terminal.ts';

/** What the screen shows that it did not show at first. Call it after `terminal.sync()`. */
export class ShownText {
  readonly #terminal: Terminal;
  readonly #epoch: number;
  readonly #alternate: boolean;
  readonly #before: ReadonlyMap<number, string>;

  constructor(terminal: Terminal) {
    const { epoch, alternate, viewportTop } = terminal.screen.facts;
    this.#terminal = terminal;
    this.#epoch = epoch;
    this.#alternate = alternate;
    this.#before = new Map(terminal.screen.rowTexts(viewportTop).map(({ row, text }) => [row, text]));
  }

  /** Rows of the viewport that have changed; a row that grew counts from where it grew. */
  changed(): string {
    const { screen } = this.#terminal;
    const { epoch, alternate, viewportTop } = screen.facts;
    const comparable = epoch === this.#epoch && alternate === this.#alternate;
    let text = '';
    for (const { row, text: now, wrapped } of screen.rowTexts(viewportTop)) {
      const before = comparable ? this.#before.get(row) : undefined;
      if (before === now) text += '\n';
      else
        text +=
          (wrapped ? '' : '\n') + (before !== undefined && now.startsWith(before) ? now.slice(before.length) : now);
    }
    return text;
  }

  /** The whole viewport. */
  all(): string {
    return this.#terminal.screen.text({ scope: 'viewport', wrap: 'join' });
  }

  has(text: string): boolean {
    return this.all().includes(text);
  }
}
