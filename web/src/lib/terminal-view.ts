import { Unicode11Addon } from '@xterm/addon-unicode11';
import { type ITheme, Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { feed } from './feed.svelte.ts';
import { sized } from './format.ts';
import { loadAbove } from './terminal/above.ts';
import { TerminalMarks } from './terminal/marks.ts';
import { answerNothing } from './terminal/quiet.ts';
import { type Emulator, type NewScreen, TerminalReader } from './terminal/reader.ts';
import { boundSequences, fitAlternate, markRow, screenTop } from './terminal/xterm-core.ts';
import type { History, TerminalTheme } from './shapes.ts';
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

/** How the server calls the person at this page. */
const me = 'person';

interface ViewEvents {
  readonly ended: (how: string) => void;
  readonly failed: (why: string) => void;
  /** How many bytes were not kept while the link was gone. */
  readonly skipped: (bytes: number) => void;
  /** Where its commands stand is known better than before. */
  readonly marked: () => void;
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
  readonly #marks: TerminalMarks;
  #reader: TerminalReader | undefined;
  /** How many whole screens there were. */
  #screens = 0;
  #isOver = false;
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
      // Decorations and widths of characters count as proposed.
      allowProposedApi: true,
    });
    this.#xterm.open(place);
    this.#fitting = new ResizeObserver(([entry]) => this.#fit(entry?.contentRect.width ?? 0));
    this.#fitting.observe(place);
    answerNothing(this.#xterm);
    this.#xterm.onData((keys) => on.typed(keys));
    this.#xterm.attachCustomKeyEventHandler((event) => event.type !== 'keydown' || on.pressed(event));
    this.#xterm.loadAddon(new Unicode11Addon());
    this.#xterm.unicode.activeVersion = '11';
    boundSequences(this.#xterm);
    this.#marks = new TerminalMarks(this.#xterm, (by) => by === me);
    const { live } = feed;
    if (!live) return;
    this.#reader = new TerminalReader(live, id, this.#emulator(), {
      screen: (screen, missed) => this.#begun(screen, missed),
      event: (event) => {
        this.#marks.take(event);
        on.marked();
      },
      ended: on.ended,
      failed: ({ message }) => on.failed(message),
    });
  }

  /** What the reader writes to. A resize keeps the letters fitting. */
  #emulator(): Emulator {
    const xterm = this.#xterm;
    const resize = (cols: number, rows: number): void => {
      xterm.resize(cols, rows);
      fitAlternate(xterm);
      this.#fit(this.#width);
    };
    return {
      get cols() {
        return xterm.cols;
      },
      get rows() {
        return xterm.rows;
      },
      write: (data, parsed) => xterm.write(data, parsed),
      resize,
    };
  }

  /** For what is built around it: finding, copying, links. Only this class writes to it. */
  get xterm(): Terminal {
    return this.#xterm;
  }

  /** The offset of the next byte to show. */
  get have(): number | undefined {
    return this.#reader?.have;
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

  /** Looking never resizes a terminal: where its columns do not fit, its letters are smaller. */
  #fit(width: number): void {
    const most = (width - scrollBar) / this.#xterm.cols / letterWidth;
    this.#width = width;
    const size = Math.max(this.#letters.least, Math.min(this.#letters.size, Math.floor(most * 2) / 2));
    if (width > 0 && this.#xterm.options.fontSize !== size) this.#xterm.options.fontSize = size;
  }

  dispose(): void {
    this.#fitting.disconnect();
    this.#isOver = true;
    this.#reader?.stop();
    this.#marks.clear();
    this.#xterm.dispose();
  }

  /** Scrolls to a block and tints its rows; without a number nothing is tinted. False when it is not in the page. */
  showBlock(id: number | undefined): boolean {
    return this.#marks.show(id);
  }

  /** The block that a reader of the screen sees first. */
  get visibleBlock(): number | undefined {
    return this.#marks.visibleBlock;
  }

  /** Whether a screen reader gets the rows, and whether it hears all output; the emulator offers the second only with the first. */
  read(isRead: boolean, isHeard: boolean): void {
    this.#xterm.options.screenReaderMode = isRead || isHeard;
    this.#xterm.element?.querySelector('.live-region')?.setAttribute('aria-live', isHeard ? 'assertive' : 'off');
  }

  set hidesNames(isHidden: boolean) {
    this.#marks.isHidden = isHidden;
  }

  /** A whole screen is shown: what stands above it, and who typed, comes after. */
  #begun({ top, epoch }: NewScreen, missed: number): void {
    this.#screens += 1;
    const screens = this.#screens;
    const isOver = (): boolean => this.#isOver || this.#screens !== screens;
    const anchor = markRow(this.#xterm, screenTop(this.#xterm));
    this.#marks.begin(anchor, top);
    if (missed > 0) {
      this.#on.skipped(missed);
      this.#marks.gap(`${sized(missed)} were skipped here`);
    }
    const { live } = feed;
    if (!live) return;
    const call = live.call.bind(live);
    const session = this.#id;
    void (async () => {
      const history = await call<History>('person.history', { session });
      if (isOver() || history.epoch !== epoch) return;
      this.#marks.remember(history);
      this.#on.marked();
      const came = (): void => {
        this.#marks.gap(undefined);
        this.#marks.place();
        this.#on.marked();
      };
      await loadAbove({ xterm: this.#xterm, session, anchor, top, epoch, call, came, isOver });
    })().catch(() => {
      // The link broke: what is on the screen stays, and the next whole screen asks again.
    });
  }
}
