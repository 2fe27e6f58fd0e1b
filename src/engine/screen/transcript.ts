import type { Size } from '../terminal/channel.ts';
import { color, readCells, lineText } from './xterm/cells.ts';
import type { CoreBuffer, CoreLine } from './xterm/core.ts';
import { Emulator } from './xterm/emulator.ts';
import { isOrdinary } from './feed/fast-forward.ts';
import { defaultColor } from './grid.ts';
import { hides, markHidden, mayHide } from './hidden.ts';
import { colourChanges, widthsOf } from './feed/plain-scan.ts';
import { scanSimpleLines, type SimpleLines, simpleText } from './feed/simple-lines.ts';
import { firstSlice, nextSlice } from './feed/slice.ts';
import { darkTheme } from './theme.ts';

interface Transcript {
  /** Long lines in one piece, blank lines at the end left out. */
  readonly text: string;
  /** Characters a person would not see on the screen; they stand between ⟦ and ⟧. */
  readonly hidden: number;
  /** Output can unfold to far more text than it has bytes: beyond the limit the oldest lines are gone, and counted. */
  readonly droppedLines: number;
  readonly droppedBytes: number;
}

interface TranscriptOptions {
  readonly size: Size;
  /** Called often: yields to the event loop, and throws once the caller is gone. */
  readonly pause: () => Promise<void>;
  readonly maxChars?: number;
}

/** Fed in one go. No byte scrolls more than one row, so with as much scrollback nothing is lost between two looks. */
const sliceBytes = 2048;
const windowBytes = 512 << 10;
const defaultMaxChars = 16 << 20;
/** A line is handed on in parts of at least so many characters. */
const longOpen = 1 << 20;
/** Fewer bytes of simple lines are not worth taking out of the emulator's hands. */
const worthSkipping = 4 << 10;

/**
 * All the text a program's output leaves on a terminal of this size, however long: what scrolls out at the top is kept.
 * Lines that only scroll by are read off the bytes; everything else, and the last screenful before it, goes through an
 * emulator.
 */
export async function transcribe(
  bytes: Uint8Array,
  { size, pause, maxChars = defaultMaxChars }: TranscriptOptions,
): Promise<Transcript> {
  const text = new KeptText(maxChars);
  using transcriber = new Transcriber(size, text);
  for (const _step of transcriber.steps(bytes)) await pause();
  transcriber.rest(text);
  return { ...text.finish(), hidden: transcriber.hidden };
}

/** Takes the text of a transcript, line by line. */
export interface LineSink {
  /** One or more whole lines, without the newline after the last. `isAscii`: nothing but newlines and what ASCII can show. */
  add(lines: string, isAscii?: boolean): void;
  /** The beginning of the line that `add` is given next, where that is very long. */
  begin(part: string): void;
  /** Lines that are plain text, the last of them not blank, where a sink needs only their number and bytes. */
  count?(newlines: number, bytes: number): void;
}

/** Turns output into lines as it comes, in pieces cut anywhere; whole lines are quicker. */
export class Transcriber implements Disposable {
  /** Characters a person would not see on the screen. */
  hidden = 0;
  readonly #emulator: Emulator;
  #sink: LineSink;
  /** The last line so far; the next row may continue it. */
  #open: string | undefined;
  /** Rows before this absolute one have been taken. */
  #taken = 0;

  constructor(size: Size, sink: LineSink) {
    this.#sink = sink;
    this.#emulator = new Emulator(size, sliceBytes, darkTheme);
    const { core } = this.#emulator;
    // What scrolled out was printed, also if the scrollback is erased after.
    core.registerCsiHandler({ final: 'J' }, ({ params }) => {
      if (params[0] === 3) this.#takeScrolled();
      return false;
    });
    core.registerEscHandler({ final: 'c' }, () => {
      this.#takeScrolled();
      return false;
    });
    this.#keepSavedRow();
  }

  /** A saved cursor is in the row it was saved in, however many rows before it are let go. */
  #keepSavedRow(): void {
    const { buffers } = this.#emulator.core;
    const follow = (buffer: CoreBuffer): CoreBuffer => {
      buffer.lines.onTrim((count) => {
        buffer.savedY = Math.max(0, buffer.savedY - count);
      });
      return buffer;
    };
    let followed = follow(buffers.normal);
    buffers.onBufferActivate(() => {
      if (buffers.normal !== followed) followed = follow(buffers.normal);
    });
  }

  /** Takes the bytes in, in steps short enough to let others have a turn after each. */
  *steps(bytes: Uint8Array): Generator<void, void, void> {
    let at = 0;
    let scannedTo = 0;
    const { cols, rows } = this.#emulator.core;
    let sliceSize = Math.min(sliceBytes, firstSlice({ cols, rows }));
    while (at < bytes.length) {
      if (at >= scannedTo) {
        const { skipped, end } = this.#skip(bytes, at, Math.min(bytes.length, at + windowBytes));
        scannedTo = Math.max(end, at + sliceBytes);
        at += skipped;
      }
      const slice = bytes.subarray(at, at + sliceSize);
      // Simple lines can only be told from the start of one.
      const whole = slice.lastIndexOf(0x0a) + 1 || slice.length;
      const started = performance.now();
      this.#feed(slice.subarray(0, whole));
      sliceSize = nextSlice(sliceSize, performance.now() - started, sliceBytes);
      at += whole;
      yield;
    }
  }

  /** Gives this sink what would follow if the output ended here. More may be taken in afterwards. */
  rest(sink: LineSink): void {
    const before = { sink: this.#sink, open: this.#open, taken: this.#taken };
    this.#sink = sink;
    this.#takeAll();
    this.#close();
    this.#sink = before.sink;
    this.#open = before.open;
    this.#taken = before.taken;
  }

  [Symbol.dispose](): void {
    this.#emulator.dispose();
  }

  #feed(bytes: Uint8Array): void {
    this.#emulator.feed(bytes);
    this.#emulator.take();
    this.#takeScrolled();
  }

  /** Reads simple lines at `from` off the bytes, all but the last screenfuls of them. */
  #skip(bytes: Uint8Array, from: number, to: number): { readonly skipped: number; readonly end: number } {
    const none = { skipped: 0, end: from };
    const { core } = this.#emulator;
    if (to - from < worthSkipping || !this.#emulator.atRest || !isOrdinary(core) || !this.#startsAfresh()) return none;
    const lines = scanSimpleLines(bytes, from, to, core.cols, widthsOf(core));
    const cut = linesBefore(bytes, from, lines.end, 2 * core.rows + 1);
    if (cut - from < worthSkipping) return { skipped: 0, end: lines.end };
    this.#takeAll();
    this.#close();
    this.#skipped(bytes, from, cut, lines);
    if (lines.hasEscapes) this.#emulator.feed(colourChanges(bytes, lastReset(bytes, from, cut), cut));
    this.#emulator.feed(clearBytes);
    // The row of a saved cursor has scrolled out by the time it can be restored.
    core.buffers.normal.savedY = 0;
    this.#taken = this.#emulator.trimmed;
    return { skipped: cut - from, end: lines.end };
  }

  #skipped(bytes: Uint8Array, from: number, to: number, lines: SimpleLines): void {
    const { core } = this.#emulator;
    const textOf = (start: number, end: number): string => simpleText(bytes, start, end, lines, core.cols);
    let counted = this.#sink.count && lines.isPlain ? to : from;
    // Blank lines at the end are left to the sink: whether they count depends on what follows.
    for (let tries = 0; counted > from; tries++) {
      const start = linesBefore(bytes, from, counted, 1);
      if (textOf(start, counted).trim() !== '') break;
      counted = tries < 64 ? start : from;
    }
    if (counted > from) {
      const after = scanSimpleLines(bytes, counted, lines.end, core.cols, widthsOf(core));
      const newlines = lines.newlines - after.newlines - 1;
      this.#sink.count?.(newlines, lines.textBytes - after.textBytes + newlines);
    }
    if (counted < to) this.#sink.add(textOf(counted, to).slice(0, -1), lines.isAscii);
  }

  /** The cursor is at the start of a blank row with nothing below it, and its pen can be seen. */
  #startsAfresh(): boolean {
    const { buffers, cols, _inputHandler } = this.#emulator.core;
    const { lines, ybase, x, y } = buffers.active;
    const { fg, bg } = _inputHandler._curAttrData;
    if (x !== 0 || color(bg) !== defaultColor || (fg & 0x40000000) !== 0 || hides(color(fg), defaultColor))
      return false;
    for (let row = ybase + y; row < lines.length; row++) {
      const line = lines.get(row);
      if (line && (line.isWrapped || lineText(line, cols) !== '')) return false;
    }
    return true;
  }

  #takeScrolled(): void {
    const { normal } = this.#emulator.core.buffers;
    this.#take(normal.lines.get.bind(normal.lines), normal.ybase);
  }

  /** Also what is still on the screen: nothing can change it any more. */
  #takeAll(): void {
    const { normal, active } = this.#emulator.core.buffers;
    // Blank rows below the last one that was written to are no output, unless more of it follows.
    let rows = normal.ybase + normal.y + 1;
    for (let row = rows; row < normal.lines.length; row++) {
      const line = normal.lines.get(row);
      if (line && lineText(line, this.#emulator.core.cols) !== '') rows = row + 1;
    }
    if (active === normal && normal.x === 0 && rows === normal.ybase + normal.y + 1) {
      const line = normal.lines.get(rows - 1);
      if (line && !line.isWrapped && lineText(line, this.#emulator.core.cols) === '') rows--;
    }
    this.#take(normal.lines.get.bind(normal.lines), rows);
    if (active === normal) return;
    this.#close();
    for (let row = 0; row < active.lines.length; row++) this.#row(active.lines.get(row));
  }

  #take(line: (index: number) => CoreLine | undefined, rows: number): void {
    const { trimmed } = this.#emulator;
    for (let row = Math.max(0, this.#taken - trimmed); row < rows; row++) this.#row(line(row));
    this.#taken = Math.max(this.#taken, trimmed + rows);
  }

  #row(line: CoreLine | undefined): void {
    if (!line) return;
    const text = this.#textOf(line);
    if (line.isWrapped && this.#open !== undefined) {
      this.#open += text;
      if (this.#open.length < longOpen) return;
      this.#sink.begin(this.#open);
      this.#open = '';
    } else {
      this.#close();
      this.#open = text;
    }
  }

  #textOf(line: CoreLine): string {
    const { cols } = this.#emulator.core;
    if (!mayHide(line)) return lineText(line, cols);
    const { text, hidden } = markHidden(readCells(line, cols));
    this.hidden += hidden;
    return text;
  }

  #close(): void {
    if (this.#open !== undefined) this.#sink.add(this.#open);
    this.#open = undefined;
  }
}

/** The newest lines of a text, up to a limit; how many came before them is counted. */
class KeptText implements LineSink {
  readonly #maxChars: number;
  #chunks: string[] = [];
  #chars = 0;
  #begun = '';
  #droppedLines = 0;
  #droppedBytes = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  begin(part: string): void {
    this.#begun += part;
  }

  add(lines: string): void {
    const chunk = this.#begun + lines;
    this.#begun = '';
    this.#chunks.push(chunk);
    this.#chars += chunk.length + 1;
    if (this.#chars > this.#maxChars + (this.#maxChars >> 2)) this.#drop();
  }

  finish(): Omit<Transcript, 'hidden'> {
    const text = withoutBlankEnd(this.#chunks.join('\n'));
    return { text, droppedLines: this.#droppedLines, droppedBytes: this.#droppedBytes };
  }

  /** Seldom, and then a quarter at a time. */
  #drop(): void {
    let count = 0;
    for (; this.#chars > this.#maxChars && count < this.#chunks.length - 1; count++) {
      const chunk = this.#chunks[count] ?? '';
      this.#chars -= chunk.length + 1;
      this.#droppedLines += chunk.split('\n').length;
      this.#droppedBytes += Buffer.byteLength(chunk) + 1;
    }
    this.#chunks = this.#chunks.slice(count);
  }
}

const clearBytes = Buffer.from('\x1b[2J\x1b[3J\x1b[H');

function withoutBlankEnd(text: string): string {
  const end = text.trimEnd().length;
  const newline = end === 0 ? 0 : text.indexOf('\n', end);
  return newline === -1 ? text : text.slice(0, newline);
}

/** Colours set before it do not matter. */
function lastReset(bytes: Uint8Array, from: number, to: number): number {
  const part = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from);
  return from + Math.max(0, part.lastIndexOf('\x1b[0m'), part.lastIndexOf('\x1b[m'));
}

/** Where the last `count` of the lines between `from` and `to` begin. */
function linesBefore(bytes: Uint8Array, from: number, to: number, count: number): number {
  let at = to;
  for (let i = 0; i < count && at > from; i++) {
    // A negative place to search from would be taken from the other end.
    at = at - from < 2 ? from : Math.max(from, bytes.lastIndexOf(0x0a, at - 2) + 1);
  }
  return at;
}
