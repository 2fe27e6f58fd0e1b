import { readCells, lineText } from '../xterm/cells.ts';
import { clearScreen } from '../xterm/clear.ts';
import { Emulator } from '../xterm/emulator.ts';
import { markHidden, mayHide } from '../hidden.ts';
import { hasNoColor, paintRow } from '../painted.ts';
import { darkTheme } from '../theme.ts';
import { rewrapped } from './rewrap.ts';
import type { Size } from '../../terminal/channel.ts';

/** A row that has left the emulator. */
export interface OlderRow {
  readonly text: string;
  readonly wrapped: boolean;
  /** The text with what a person cannot see between ⟦ and ⟧, and how much that is, where there is any. */
  readonly marked?: { readonly text: string; readonly hidden: number };
  /** The text with its colours, where it has any. */
  readonly painted?: string;
}

interface ScrolledOptions {
  readonly size: Size;
  /** The same as the live emulator's: rows then leave both in the same places. */
  readonly scrollback: number;
  /** The output begins in the middle: what the screen was like before is unknown. */
  readonly midway: boolean;
  /** Colours are kept, too. */
  readonly painted: boolean;
}

interface MarkedPlace {
  readonly offset: number;
  readonly row: number;
  readonly marker: { readonly line: number; dispose(): void };
}

/** The most bytes fed at once, so that every row is taken before it leaves the emulator. */
const mostFed = 1024;

/** A second emulator fed with the same output as the live one. It keeps the text of rows that scroll out of its scrollback. */
export class ScrolledRows implements Disposable {
  /** The absolute number of `rows[0]`, counted from the beginning of this replay. */
  first = 0;
  readonly rows: OlderRow[] = [];
  /** The absolute number of the row that the cursor was on at these offsets. */
  readonly places = new Map<number, number>();
  readonly #emulator: Emulator;
  readonly #painted: boolean;
  #erased = false;

  constructor({ size, scrollback, midway, painted }: ScrolledOptions) {
    this.#painted = painted;
    this.#emulator = new Emulator(size, scrollback, darkTheme);
    const { core } = this.#emulator;
    const isNormal = (): boolean => core.buffers.active === core.buffers.normal;
    // Erased scrollback must not come back.
    core.registerCsiHandler({ final: 'J' }, ({ params }) => {
      if (params[0] === 3 && isNormal()) this.#erased = true;
      return false;
    });
    core.registerEscHandler({ final: 'c' }, () => {
      this.#erased = true;
      return false;
    });
    if (!midway) return;
    // The output began on the alternate screen: what was taken so far never stood on the normal one.
    core.registerCsiHandler({ prefix: '?', final: 'l' }, ({ params }) => {
      if ([47, 1047, 1049].includes(params[0] ?? 0) && isNormal()) this.#erased = true;
      return false;
    });
  }

  /** How many bytes `feed` takes. */
  get step(): number {
    return Math.min(mostFed, Math.max(1, this.#emulator.scrollback));
  }

  /** The absolute number of the first row that is still in the emulator. */
  get trimmed(): number {
    return this.#emulator.trimmed;
  }

  /** At most `step` bytes. */
  feed(bytes: Uint8Array): void {
    this.#take(this.#emulator.trimmed + bytes.length);
    this.#emulator.feed(bytes);
    // Its replies and events are those of the live one, long since handed on.
    this.#emulator.take();
    if (this.#erased) this.#forget();
    this.#fill();
  }

  /** Remembers the row that the cursor is on now. Full-screen programs have none. */
  place(offset: number): void {
    const { active, normal } = this.#emulator.core.buffers;
    if (active === normal) this.places.set(offset, this.#emulator.trimmed + normal.ybase + normal.y);
  }

  resize(size: Size): void {
    const { core } = this.#emulator;
    const before = this.#emulator.trimmed;
    // A reflow renumbers what was taken ahead of its time.
    this.rows.length = Math.max(0, before - this.first);
    const shown = size.cols < core.cols ? this.#scrollback() : [];
    const marked = this.#markPlaces();
    core.resize(size.cols, size.rows);
    const left = this.#emulator.trimmed - before;
    if (left > 0) this.rows.push(...rewrapped(shown, size.cols, left));
    this.#readPlaces(marked, (row) => before + rewrapped(shown.slice(0, row - before), size.cols).length);
    this.#fill();
  }

  clear(keepCursorLine: boolean): void {
    clearScreen(this.#emulator, keepCursorLine);
    this.#forget();
  }

  /** The first rows that are still in the emulator: the live one must show the same. */
  firstShown(count: number): string[] {
    return this.#scrollback(count).map(({ text }) => text);
  }

  /** Keeps the newest of what has left, this many. */
  keep(most: number): void {
    const many = this.rows.length - most;
    if (many <= 0) return;
    this.rows.splice(0, many);
    this.first += many;
    this.#dropPlaces();
  }

  [Symbol.dispose](): void {
    this.#emulator.dispose();
  }

  /** A reflow moves rows: markers of the emulator move with them. */
  #markPlaces(): MarkedPlace[] {
    const { trimmed, core } = this.#emulator;
    return [...this.places].flatMap(([offset, row]) =>
      row < trimmed ? [] : [{ offset, row, marker: core.buffers.normal.addMarker(row - trimmed) }],
    );
  }

  /** `pushedOut`: where a row went that the reflow pushed out of the emulator, and its marker with it. */
  #readPlaces(marked: readonly MarkedPlace[], pushedOut: (row: number) => number): void {
    for (const { offset, row, marker } of marked) {
      this.places.set(offset, marker.line < 0 ? pushedOut(row) : this.#emulator.trimmed + marker.line);
      marker.dispose();
    }
  }

  #dropPlaces(): void {
    for (const [offset, row] of this.places) if (row < this.first) this.places.delete(offset);
  }

  /** Takes the rows before `to` that can no longer change. */
  #take(to: number): void {
    const { normal } = this.#emulator.core.buffers;
    const { trimmed } = this.#emulator;
    const end = Math.min(to, trimmed + normal.ybase);
    for (let row = Math.max(trimmed, this.first + this.rows.length); row < end; row++) {
      this.rows.push(this.#row(row - trimmed));
    }
  }

  #row(index: number): OlderRow {
    const { buffers, cols } = this.#emulator.core;
    const line = buffers.normal.lines.get(index);
    if (!line) return { text: '', wrapped: false };
    const plain = { text: lineText(line, cols), wrapped: line.isWrapped };
    const row = this.#painted && !hasNoColor(line) ? { ...plain, painted: paintRow(line, cols) } : plain;
    if (!mayHide(line)) return row;
    const marked = markHidden(readCells(line, cols));
    return marked.hidden > 0 ? { ...row, marked } : row;
  }

  #scrollback(most = Number.POSITIVE_INFINITY): OlderRow[] {
    const { ybase } = this.#emulator.core.buffers.normal;
    return Array.from({ length: Math.min(most, ybase) }, (_, at) => this.#row(at));
  }

  #forget(): void {
    this.#erased = false;
    this.rows.length = 0;
    this.first = this.#emulator.trimmed;
    this.#dropPlaces();
  }

  /** A sequence can scroll by more rows than it has bytes: their numbers stay, their text is gone. */
  #fill(): void {
    const missing = this.#emulator.trimmed - this.first - this.rows.length;
    for (let at = 0; at < missing; at++) this.rows.push({ text: '', wrapped: false });
  }
}
