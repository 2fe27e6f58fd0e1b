import { type ITheme, Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { visibleLines } from '../../../src/contract/quote.ts';
import { feed } from './feed.svelte.ts';
import { answerNothing } from './terminal/quiet.ts';
import type { Followed, Seen, TerminalTheme } from './shapes.ts';
import { allowXtermStyles } from './xterm-styles.ts';

allowXtermStyles();

const colorNames = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** As xterm.js wants it: the eight colours by their names, then the bright ones. */
export function xtermTheme({ foreground, background, cursor, colors }: TerminalTheme): ITheme {
  const bright = colorNames.map((name) => `bright${name[0]?.toUpperCase()}${name.slice(1)}`);
  const named = [...colorNames, ...bright].map((name, at) => [name, colors[at]]);
  return { foreground, background, cursor, ...Object.fromEntries(named) };
}

/** Sizes of letters in pixels, and how wide one is beside its size. */
const usual = 13;
const smallest = 8;
const letterWidth = 0.602;
const scrollBar = 16;

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));

interface ViewEvents {
  readonly ended: (how: string) => void;
  readonly failed: (why: string) => void;
  /** How many bytes were not kept while the link was gone. */
  readonly skipped: (bytes: number) => void;
  /** What the person types into it. */
  readonly typed: (keys: string) => void;
  /** A key is pressed in it; false: it is not for the program. */
  readonly pressed: (event: KeyboardEvent) => boolean;
}

/** A terminal of the server in the page: its screen, then its bytes, without a gap or a byte twice. */
export class TerminalView {
  readonly #xterm: Terminal;
  readonly #id: string;
  readonly #on: ViewEvents;
  /** The offset of the next byte to show; undefined before the first screen. */
  #have: number | undefined;
  #stop: (() => void) | undefined;
  readonly #fitting: ResizeObserver;
  #letters = { size: usual, least: smallest };
  #width = 0;

  constructor(id: string, place: HTMLElement, size: { cols: number; rows: number }, on: ViewEvents) {
    this.#id = id;
    this.#on = on;
    this.#xterm = new Terminal({
      ...size,
      ...(feed.theme && { theme: xtermTheme(feed.theme) }),
      fontFamily: "'Geist Mono Variable', ui-monospace, 'DejaVu Sans Mono', monospace",
      fontSize: usual,
      lineHeight: 1.2,
      scrollback: 10_000,
      minimumContrastRatio: 4.5,
      cursorBlink: false,
      linkHandler: null,
      allowProposedApi: false,
    });
    this.#xterm.open(place);
    this.#fitting = new ResizeObserver(([entry]) => this.#fit(entry?.contentRect.width ?? 0));
    this.#fitting.observe(place);
    answerNothing(this.#xterm);
    this.#xterm.onData((keys) => on.typed(keys));
    this.#xterm.attachCustomKeyEventHandler((event) => event.type !== 'keydown' || on.pressed(event));
    void this.#begin();
  }

  /** For what is built around it: finding, copying, links. Only this class writes to it. */
  get xterm(): Terminal {
    return this.#xterm;
  }

  /** The offset of the next byte to show. */
  get have(): number | undefined {
    return this.#have;
  }

  /** The size of its letters, and how small they may be so that every column shows. */
  set letters({ size, least }: { readonly size: number; readonly least: number }) {
    this.#letters = { size, least: Math.min(size, least) };
    this.#fit(this.#width);
  }

  focus(): void {
    this.#xterm.focus();
  }

  set theme(theme: TerminalTheme) {
    this.#xterm.options.theme = xtermTheme(theme);
  }

  resize(cols: number, rows: number): void {
    if (cols === this.#xterm.cols && rows === this.#xterm.rows) return;
    this.#xterm.resize(cols, rows);
    this.#fit(this.#width);
  }

  /** Everything it shows and keeps, as lines of text; a long line that was wrapped is one. */
  text(): string {
    const { active } = this.#xterm.buffer;
    const lines: string[] = [];
    for (let row = 0; row < active.length; row++) {
      const line = active.getLine(row);
      const text = line?.translateToString(true) ?? '';
      if (line?.isWrapped === true && lines.length > 0) lines[lines.length - 1] += text;
      else lines.push(text);
    }
    return visibleLines(lines.join('\n').trimEnd());
  }

  /** Looking never resizes a terminal: where its columns do not fit, its letters are smaller. */
  #fit(width: number): void {
    const most = (width - scrollBar) / this.#xterm.cols / letterWidth;
    this.#width = width;
    const size = Math.max(this.#letters.least, Math.min(this.#letters.size, Math.floor(most * 2) / 2));
    if (width > 0 && this.#xterm.options.fontSize !== size) this.#xterm.options.fontSize = size;
  }

  dispose(): void {
    this.#fitting.disconnect();
    this.#stop?.();
    this.#xterm.dispose();
  }

  /** The screen as it is, and everything after it. */
  async #begin(): Promise<void> {
    try {
      const seen = await feed.live?.call<Seen>('person.see', { session: this.#id });
      if (!seen) return;
      this.#xterm.reset();
      this.resize(seen.cols, seen.rows);
      this.#xterm.write(bytesOf(seen.screen));
      this.#have = seen.from;
      this.#stop ??= feed.live?.read<Followed>({
        stream: 'person.follow',
        input: () => ({ session: this.#id, from: this.#have }),
        item: (item) => this.#take(item),
        pausesWhenHidden: true,
        failed: ({ message }) => this.#on.failed(message),
      });
    } catch (error) {
      this.#on.failed(error instanceof Error ? error.message : String(error));
    }
  }

  #take({ from, bytes, missed, ended }: Followed): void {
    if (missed > 0 && this.#have !== undefined) {
      this.#on.skipped(missed);
      this.#have = undefined;
      void this.#begin();
      return;
    }
    if (this.#have === undefined) return;
    const chunk = bytesOf(bytes);
    const known = Math.max(0, this.#have - from);
    if (chunk.length > known) {
      this.#xterm.write(chunk.subarray(known));
      this.#have = from + chunk.length;
    }
    if (ended !== undefined) this.#on.ended(ended);
  }
}
