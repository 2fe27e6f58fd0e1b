import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { xtermTheme } from '../terminal-view.ts';
import type { ReplayedEvent } from '../replay-shapes.ts';
import type { TerminalTheme } from '../shapes.ts';

const largest = 16;
const smallest = 8;
const letterWidth = 0.602;
const lineHeight = 1.2;

/** The screen of a player: it shows and takes no key. */
export class PlayerScreen {
  readonly #xterm: Terminal;
  readonly #place: HTMLElement;
  readonly #fitting: ResizeObserver;

  constructor(place: HTMLElement, theme: TerminalTheme | undefined) {
    this.#place = place;
    this.#xterm = new Terminal({
      ...(theme && { theme: xtermTheme(theme) }),
      fontFamily: "'Geist Mono Variable', ui-monospace, 'DejaVu Sans Mono', monospace",
      fontSize: 13,
      lineHeight,
      scrollback: 0,
      minimumContrastRatio: 4.5,
      cursorBlink: false,
      disableStdin: true,
      linkHandler: null,
      allowProposedApi: false,
    });
    this.#xterm.open(place);
    // Nothing here takes keys: those of the page must not end in it.
    const input = place.querySelector('textarea');
    if (input) input.disabled = true;
    this.#fitting = new ResizeObserver(() => this.#fit());
    if (place.parentElement) this.#fitting.observe(place.parentElement);
  }

  set theme(theme: TerminalTheme) {
    this.#xterm.options.theme = xtermTheme(theme);
  }

  /** Shows another moment. Settles when it is on the screen. */
  show(
    base: { readonly cols: number; readonly rows: number; readonly screen: string },
    then: readonly ReplayedEvent[],
  ) {
    this.#resize(base.cols, base.rows);
    this.#xterm.write(`\x1bc${base.screen}`);
    return this.play(then);
  }

  /** Shows what comes next. */
  play(events: readonly ReplayedEvent[]): Promise<void> {
    let text = '';
    for (const [, code, data] of events) {
      if (code === 'o') text += data;
      const size = code === 'r' ? /^(\d{1,4})x(\d{1,4})$/.exec(data) : null;
      if (!size) continue;
      this.#xterm.write(text);
      text = '';
      this.#resize(Number(size[1]), Number(size[2]));
    }
    return new Promise((resolve) => this.#xterm.write(text, resolve));
  }

  dispose(): void {
    this.#fitting.disconnect();
    this.#xterm.dispose();
  }

  /** In order with what is written. */
  #resize(cols: number, rows: number): void {
    this.#xterm.write('', () => {
      if (cols === this.#xterm.cols && rows === this.#xterm.rows) return;
      this.#xterm.resize(Math.max(2, cols), Math.max(1, rows));
      this.#fit();
    });
  }

  /** All columns and rows fit where letters stay readable; else it scrolls. */
  #fit(): void {
    const { clientWidth: width = 0, clientHeight: height = 0 } = this.#place.parentElement ?? {};
    if (width === 0) return;
    const byWidth = (width - 24) / this.#xterm.cols / letterWidth;
    const byHeight = (height - 20) / this.#xterm.rows / (lineHeight * 1.17);
    const most = Math.floor(Math.min(byWidth, Math.max(byHeight, smallest)) * 2) / 2;
    const size = Math.max(smallest, Math.min(largest, most));
    if (this.#xterm.options.fontSize !== size) this.#xterm.options.fontSize = size;
  }
}
