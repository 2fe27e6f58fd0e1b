import type { Clock } from '../../lib/clock.ts';
import { Emitter } from '../../lib/emitter.ts';
import { FairleadError } from '../../contract/errors.ts';
import type { Size } from '../terminal/channel.ts';
import { clearScreen } from './xterm/clear.ts';
import { Emulator, type ScreenEvent } from './xterm/emulator.ts';
import { blankFacts, type Facts, factsOf, type Modes, modesOf } from './xterm/facts.ts';
import { fastForward, followFrom } from './feed/fast-forward.ts';
import { type Cursor, defaultColor, type Grid, type Line } from './grid.ts';
import { capture, imageBytes, restoreEmulator } from './xterm/image.ts';
import { decodeScreen, encodeScreen, type SavedScreen } from './xterm/image-codec.ts';
import type { PaintedRow } from './painted.ts';
import { gridLines, joinRows, paintedRows, type RowText, rowTexts } from './rows.ts';
import type { PlainScan } from './feed/plain-scan.ts';
import { ScreenHistory } from './screen-history.ts';
import { snapshot } from './snapshot.ts';
import { darkTheme, type ScreenColors } from './theme.ts';

export interface ScreenOptions {
  readonly size: Size;
  /** Rows kept above the viewport. */
  readonly scrollback?: number | undefined;
  readonly clock: Clock;
  /** Answers of the terminal to the program in it. Called after parsing, never within it. */
  readonly reply?: ((bytes: Uint8Array) => void) | undefined;
  readonly theme?: ScreenColors | undefined;
  /** Hears of a mistake of ours in showing output: the screen begins anew then. Without it the mistake is thrown. */
  readonly onFault?: ((thrown: unknown) => void) | undefined;
  /** What `save` gave, perhaps in another process: the screen goes on from there, at the size it had. */
  readonly saved?: Uint8Array | undefined;
}

const anewNote = Buffer.from('[fairlead: some output could not be shown; the screen begins anew here]\r\n');

interface TextOptions {
  readonly scope: 'all' | 'viewport';
  /** `join` makes one line of a long one that was wrapped; `keep` shows rows. */
  readonly wrap: 'join' | 'keep';
  /** Leave out rows before this absolute one. */
  readonly fromRow?: number | undefined;
}

interface GridOptions {
  /** Absolute number of the first row; the viewport's by default. */
  readonly from?: number | undefined;
  readonly rows?: number | undefined;
}

/**
 * What a terminal shows. It has an emulator only between its first byte and its next hibernation; reading wakes it up
 * without a visible difference.
 */
export class Screen implements Disposable {
  readonly clock: Clock;
  readonly scrollback: number;
  readonly events = new Emitter<ScreenEvent>();
  readonly resized = new Emitter<Size>();
  /** Whether the cursor's line was kept. */
  readonly cleared = new Emitter<boolean>();
  /** What its readers have seen, for differences. */
  readonly history = new ScreenHistory();
  /** After an emulator came to be, by a first byte or by waking up. */
  readonly onWake = new Emitter<void>();
  /** Before the screen is changed by other than output: held output must be shown now. */
  readonly onChange = new Emitter<void>();
  readonly #reply: ((bytes: Uint8Array) => void) | undefined;
  readonly #theme: ScreenColors;
  readonly #onFault: ((thrown: unknown) => void) | undefined;
  #size: Size;
  #live: Emulator | undefined;
  #asleep: SavedScreen | undefined;
  #lastUsedMs = 0;

  constructor({ size, scrollback = 1000, clock, reply, theme = darkTheme, saved, onFault: onMistake }: ScreenOptions) {
    this.#asleep = saved && decodeScreen(saved);
    this.#size = this.#asleep?.image.size ?? checked(size);
    this.scrollback = scrollback;
    this.clock = clock;
    this.#reply = reply;
    this.#theme = theme;
    this.#onFault = onMistake;
  }

  get size(): Size {
    return this.#size;
  }

  get title(): string {
    return this.facts.title;
  }

  /** Relative to the viewport. */
  get cursor(): Cursor {
    return this.facts.cursor;
  }

  get alternate(): boolean {
    return this.facts.alternate;
  }

  get modes(): Modes {
    return this.#live ? modesOf(this.#live.core) : this.facts.modes;
  }

  get scrollbackRows(): number {
    return this.facts.scrollbackRows;
  }

  get baseRow(): number {
    return this.facts.baseRow;
  }

  get viewportTop(): number {
    return this.facts.viewportTop;
  }

  get epoch(): number {
    return this.facts.epoch;
  }

  /** All of the above at once. Does not wake the screen up. */
  get facts(): Facts {
    if (this.#live) return factsOf(this.#live);
    return this.#asleep?.facts ?? blankFacts;
  }

  /** `blank` costs nothing, `asleep` some 20 KB, `live` an emulator. */
  get state(): 'blank' | 'asleep' | 'live' {
    if (this.#live) return 'live';
    return this.#asleep ? 'asleep' : 'blank';
  }

  /** Bytes of the sleeping image; 0 while awake. */
  get imageBytes(): number {
    return this.#asleep ? imageBytes(this.#asleep.image) : 0;
  }

  /** When the emulator was last needed, on the monotonic clock. */
  get lastUsedMs(): number {
    return this.#lastUsedMs;
  }

  /** Parses at once; the bytes may be cut anywhere. */
  feed(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    let emulator: Emulator;
    try {
      emulator = this.#awake() ?? this.#begin();
      emulator.feed(bytes);
    } catch (thrown) {
      return this.#beginAnew(thrown);
    }
    try {
      this.#handOn(emulator);
    } catch (thrown) {
      this.fault(thrown);
    }
  }

  /** Follows what comes next, from the offset `at`, without showing it yet; nothing when the screen is not in a state for that. */
  follow(at: number): PlainScan | undefined {
    return followFrom(this.#awake() ?? this.#begin(), at);
  }

  /** Shows what was followed; `bytes` are those the scan has not skipped yet. False when feeding them is as good. */
  fastForward(scan: PlainScan, bytes: Uint8Array): boolean {
    try {
      return fastForward(this.#awake() ?? this.#begin(), scan, bytes);
    } catch (thrown) {
      this.#beginAnew(thrown);
      return false;
    }
  }

  /** Something went wrong that must not end the program whose output is shown here. */
  fault(thrown: unknown): void {
    if (!this.#onFault) throw thrown;
    this.#onFault(thrown);
  }

  resize(size: Size): void {
    const { cols, rows } = checked(size);
    this.onChange.emit();
    const reflows = cols !== this.#size.cols;
    this.#size = { cols, rows };
    const emulator = this.#awake();
    emulator?.resize(cols, rows);
    if (emulator && reflows) emulator.epoch++;
    this.resized.emit(this.#size);
  }

  /** Empties screen and scrollback; the cursor's line, unless it is not to be kept, becomes the first. */
  clear(keepCursorLine = true): void {
    this.onChange.emit();
    const emulator = this.#awake();
    if (emulator) clearScreen(emulator, keepCursorLine);
    this.cleared.emit(keepCursorLine);
  }

  grid({ from, rows = this.#size.rows }: GridOptions = {}): Grid {
    const { cols } = this.#size;
    const emulator = this.#awake();
    const { cursor, viewportTop, baseRow } = this.facts;
    const first = Math.max(from ?? viewportTop, baseRow);
    const lines = emulator
      ? gridLines(emulator, first, rows - (first - (from ?? first)))
      : Array.from({ length: rows }, () => blankLine(cols));
    const y = viewportTop + cursor.y - first;
    const inside = y >= 0 && y < lines.length;
    return { cols, rows: lines.length, lines, cursor: { ...cursor, y, visible: cursor.visible && inside } };
  }

  /** On the alternate screen only that screen. Trailing blank lines are left out. */
  text({ scope, wrap, fromRow = 0 }: TextOptions): string {
    const { viewportTop, baseRow } = this.facts;
    return joinRows(this.rowTexts(Math.max(fromRow, scope === 'all' ? baseRow : viewportTop)), wrap);
  }

  /** Rows as strings, from an absolute row on; trailing cells nothing was written to are left out. */
  rowTexts(from: number = 0, count: number = Number.MAX_SAFE_INTEGER): RowText[] {
    const emulator = this.#awake();
    return emulator ? rowTexts(emulator, from, count) : [];
  }

  /** The same, with text that a person cannot see between ⟦ and ⟧, and counted. */
  markedRows(from: number = 0, count: number = Number.MAX_SAFE_INTEGER): RowText[] {
    const emulator = this.#awake();
    return emulator ? rowTexts(emulator, from, count, true) : [];
  }

  /** The same with colours, as escape text. */
  paintedRows(from: number, count: number): PaintedRow[] {
    const emulator = this.#awake();
    return emulator && count > 0 ? paintedRows(emulator, from, count) : [];
  }

  /** Escape text that makes a fresh terminal of this size show the same, with up to `scrollback` rows above. */
  snapshot({ scrollback = 0 }: { readonly scrollback?: number } = {}): string {
    const emulator = this.#awake();
    return emulator ? snapshot(emulator, scrollback) : '';
  }

  /** Bytes of an escape sequence or a character that is not complete: they come after a snapshot, before what is next. */
  get pending(): Uint8Array {
    return this.#awake()?.pending ?? new Uint8Array(0);
  }

  /** Puts the emulator away. False while that is not possible: in the middle of an escape sequence. */
  hibernate(): boolean {
    const emulator = this.#live;
    if (!emulator) return true;
    if (emulator.core._inputHandler._parser.currentState !== 0) return false;
    this.#asleep = { image: capture(emulator), facts: factsOf(emulator) };
    this.#live = undefined;
    emulator.dispose();
    return true;
  }

  /** Everything about it as bytes, empty for a blank one. Nothing in the middle of an escape sequence. */
  save(): Uint8Array | undefined {
    const emulator = this.#live;
    if (!emulator) return this.#asleep ? encodeScreen(this.#asleep) : new Uint8Array(0);
    if (emulator.core._inputHandler._parser.currentState !== 0) return undefined;
    return encodeScreen({ image: capture(emulator), facts: factsOf(emulator) });
  }

  [Symbol.dispose](): void {
    this.#live?.dispose();
    this.#live = undefined;
    this.#asleep = undefined;
  }

  #awake(): Emulator | undefined {
    this.#lastUsedMs = this.clock.monotonic();
    if (this.#live || !this.#asleep) return this.#live;
    this.#live = restoreEmulator(this.#asleep.image, this.#theme);
    this.#asleep = undefined;
    this.onWake.emit();
    return this.#live;
  }

  #begin(): Emulator {
    this.#live = new Emulator(this.#size, this.scrollback, this.#theme);
    this.onWake.emit();
    return this.#live;
  }

  /** Whatever the emulator is in the middle of, nothing of it can be trusted. Rows go on counting after those that are gone. */
  #beginAnew(thrown: unknown): void {
    this.fault(thrown);
    const { baseRow, scrollbackRows, epoch } = this.facts;
    this.#live?.dispose();
    this.#asleep = undefined;
    const emulator = this.#begin();
    emulator.trimmed = baseRow + scrollbackRows + this.#size.rows;
    emulator.epoch = epoch + 1;
    emulator.feed(anewNote);
  }

  #handOn(emulator: Emulator): void {
    const { reply, events } = emulator.take();
    if (reply !== '') this.#reply?.(Buffer.from(reply, 'latin1'));
    for (const event of events) this.events.emit(event);
  }
}

function checked(size: Size): Size {
  const { cols, rows } = size;
  if (Number.isInteger(cols) && Number.isInteger(rows) && cols >= 2 && rows >= 1 && cols <= 1000 && rows <= 1000) {
    return { cols, rows };
  }
  throw new FairleadError('invalid_input', `A terminal cannot have ${cols} columns and ${rows} rows.`, {
    hint: 'Columns may be 2 to 1000, rows 1 to 1000.',
  });
}

function blankLine(cols: number): Line {
  const cell = { text: '', width: 1, fg: defaultColor, bg: defaultColor, style: 0 } as const;
  return { cells: Array.from({ length: cols }, () => cell), wrapped: false };
}
