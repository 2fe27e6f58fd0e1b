import { type Core, widthOf } from '../xterm/core.ts';

/**
 * Text that will have scrolled out of the retained rows before the next read need not go through the emulator.
 * Only what can be followed exactly counts as such text: printable characters, CR, LF, TAB, BS, colours (SGR), erasing
 * within a line (EL) and links (OSC 8, which have no effect here). The rows it scrolls are counted, wraps included, and of
 * its colours only the last matter.
 */

const escapeByte = 0x1b;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const tab = 0x09;
const backspace = 0x08;

/** What follows the skipped part is fed in one go, so that no reader sees the screen in between. */
const mostInOneGo = 256 << 10;
/** A sequence cut off by the end of a piece may go on in the next one. */
export const longestCutOff = 4 << 10;
/** Colours set one after another and never reset; more than any program needs. */
const mostPen = 16 << 10;

/** The text could be cut here: the cursor is at the start of a row. Offsets are those of the log. */
interface Cut {
  readonly at: number;
  readonly rows: number;
  /** Where the colours that hold at the cut begin to be set. */
  readonly penFrom: number;
}

interface PlainScanOptions {
  /** Offset of the first byte that is followed. */
  readonly at: number;
  readonly cols: number;
  /** The column the cursor is in. */
  readonly x: number;
  /** The skipped part leaves at least so many rows after it. */
  readonly spare: number;
  readonly widths: Widths;
}

/** Follows output as it arrives, and knows at any time how much of it can be skipped. */
export class PlainScan {
  /** Where the followed text ends. */
  end: number;
  /** There is something at `end` that cannot be followed. */
  stopped = false;
  /** What lies before is skipped; it moved down so many rows, and left this pen. */
  from: number;
  rows = 0;
  pen: Uint8Array = new Uint8Array(0);
  readonly #widths: Widths;
  readonly #cols: number;
  readonly #spare: number;
  /** Possible cuts lie this many rows apart, so that fewer than twenty are pending at any time. */
  readonly #apart: number;
  readonly #pending: Cut[] = [];
  #best: Cut;
  #nextCut: number;
  #x: number;
  #rows = 0;
  #penFrom: number;
  /** A combining character joins the one printed right before it; after anything else the emulator gives it a cell. */
  #joins = false;

  constructor({ at, cols, x, spare, widths }: PlainScanOptions) {
    this.end = at;
    this.from = at;
    this.#penFrom = at;
    this.#x = x;
    this.#cols = cols;
    this.#spare = spare;
    this.#widths = widths;
    this.#apart = Math.max(8, spare >> 4);
    this.#nextCut = this.#apart;
    this.#best = { at, rows: 0, penFrom: at };
  }

  /** How many bytes more than those already skipped could be. */
  get skippable(): number {
    return this.#best.at - this.from;
  }

  /** Goes on with `bytes`, the first of which is the one at `end`. What it stops before is given to it again with more. */
  follow(bytes: Uint8Array): void {
    if (this.stopped) return;
    const { table } = this.#widths;
    const at = this.end;
    const cols = this.#cols;
    const length = bytes.length;
    let x = this.#x;
    let rows = this.#rows;
    let joins = this.#joins;
    let i = 0;
    scan: while (i < length) {
      const byte = bytes[i] as number;
      if (byte >= 0x20 && byte < 0x7f) {
        let end = i + 1;
        while (end < length && ((bytes[end] as number) - 0x20) >>> 0 < 0x5f) end++;
        x += end - i;
        if (x > cols) {
          const wraps = Math.floor((x - 1) / cols);
          rows += wraps;
          x -= wraps * cols;
        }
        joins = true;
        i = end;
        continue;
      }
      if (byte >= 0xc2) {
        const code = codePointAt(bytes, i);
        if (code < 0xa0) break;
        let columns = code < tableSize ? (table[code] as number) : this.#widths.ask(code);
        if (columns === unknown) columns = this.#widths.learn(code);
        if (columns === 0) {
          if (!joins) break;
        } else if (x + columns > cols) {
          rows++;
          x = columns;
        } else {
          x += columns;
        }
        joins = true;
        i += code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        continue;
      }
      switch (byte) {
        case lineFeed:
          rows++;
          if (x >= cols) x = cols - 1;
          i++;
          if (x === 0 && rows >= this.#nextCut) this.#mayCut(at + i, rows);
          break;
        case carriageReturn:
          x = 0;
          i++;
          break;
        case tab:
          if (x < cols) x = Math.min((x | 7) + 1, cols - 1);
          i++;
          break;
        case backspace:
          x = Math.max(0, Math.min(x, cols - 1) - 1);
          i++;
          break;
        case escapeByte: {
          const end = sequenceEnd(bytes, i);
          if (end < 0) break scan;
          // `ESC [ m` and `ESC [ 0 m` make every colour set before them irrelevant.
          const isReset = bytes[end - 1] === 0x6d && (end - i === 3 || (end - i === 4 && bytes[i + 2] === 0x30));
          if (isReset) this.#penFrom = at + i;
          i = end;
          break;
        }
        default:
          break scan;
      }
      joins = false;
    }
    this.#x = x;
    this.#rows = rows;
    this.#joins = joins;
    this.end = at + i;
    this.#advance(rows);
    this.stopped = length - i > cutOff(bytes, i) || this.end - this.#best.at > mostInOneGo;
  }

  #mayCut(at: number, rows: number): void {
    this.#nextCut = rows + this.#apart;
    this.#pending.push({ at, rows, penFrom: this.#penFrom });
    this.#advance(rows);
  }

  #advance(rows: number): void {
    for (let cut = this.#pending[0]; cut && rows - cut.rows >= this.#spare; cut = this.#pending[0]) {
      this.#best = cut;
      this.#pending.shift();
    }
  }

  /** Skips what can be skipped. `bytes` are those between `from` and `end`; the skipped ones are not needed after. */
  skip(bytes: Uint8Array): void {
    const { at, rows, penFrom } = this.#best;
    if (at === this.from) return;
    const set = colourChanges(bytes, Math.max(0, penFrom - this.from), at - this.from);
    this.pen = penFrom >= this.from ? set : Buffer.concat([this.pen, set]);
    this.rows = rows;
    this.from = at;
    if (this.pen.length > mostPen) this.stopped = true;
  }
}

/** How much of what was stopped before can be the beginning of a longer piece. */
function cutOff(bytes: Uint8Array, i: number): number {
  return bytes[i] === escapeByte && bytes[i + 1] === 0x5d ? longestCutOff : 32;
}

/** Where the SGR, EL or link sequence at `at` ends; -1 when it is another one, or not complete. */
function sequenceEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] === 0x5d) return linkEnd(bytes, at);
  if (bytes[at + 1] !== 0x5b) return -1;
  let i = at + 2;
  while (i < bytes.length && (bytes[i] as number) >= 0x30 && (bytes[i] as number) <= 0x3b) i++;
  const final = bytes[i];
  return final === 0x6d || final === 0x4b ? i + 1 : -1;
}

/** `ESC ] 8 ; … BEL`, or `ESC \\` in place of BEL, with nothing unusual in between. */
export function linkEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at + 2] !== 0x38 || bytes[at + 3] !== 0x3b) return -1;
  let i = at + 4;
  while (i < bytes.length && ((bytes[i] as number) - 0x20) >>> 0 < 0x5f) i++;
  if (bytes[i] === 0x07) return i + 1;
  return bytes[i] === escapeByte && bytes[i + 1] === 0x5c ? i + 2 : -1;
}

/** The code point at `i`, or 0 for anything the emulator's decoder would drop or wait for. */
export function codePointAt(bytes: Uint8Array, i: number): number {
  const lead = bytes[i] as number;
  const second = (bytes[i + 1] ?? 0) ^ 0x80;
  if (second > 0x3f) return 0;
  if (lead < 0xe0) return ((lead & 0x1f) << 6) | second;
  const third = (bytes[i + 2] ?? 0) ^ 0x80;
  if (third > 0x3f) return 0;
  if (lead < 0xf0) {
    const code = ((lead & 0x0f) << 12) | (second << 6) | third;
    return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) || code === 0xfeff ? 0 : code;
  }
  const fourth = (bytes[i + 3] ?? 0) ^ 0x80;
  if (fourth > 0x3f || lead > 0xf4) return 0;
  const code = ((lead & 0x07) << 18) | (second << 12) | (third << 6) | fourth;
  return code < 0x10000 || code > 0x10ffff ? 0 : code;
}

/** The colour changes between `from` and `to`. */
export function colourChanges(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const part = bytes.subarray(from, to);
  const parts: Uint8Array[] = [];
  for (let at = part.indexOf(escapeByte); at >= 0; at = part.indexOf(escapeByte, at + 1)) {
    const end = sequenceEnd(part, at);
    if (end > 0 && part[end - 1] === 0x6d) parts.push(part.subarray(at, end));
  }
  return Buffer.concat(parts);
}

const tableSize = 0x20000;
const unknown = 255;

/** Columns of characters. Asking the emulator every time is ten times slower than a table; it is filled as they are met. */
export interface Widths {
  /** By code point, of the first two planes; 255 until met. */
  readonly table: Uint8Array;
  readonly ask: (code: number) => number;
  /** Asks and remembers, for codes the table has room for. */
  readonly learn: (code: number) => number;
}

let table: Uint8Array | undefined;

export function widthsOf(core: Core): Widths {
  const known = (table ??= new Uint8Array(tableSize).fill(unknown));
  return {
    table: known,
    ask: (code) => widthOf(core, code),
    learn: (code) => (known[code] = widthOf(core, code)),
  };
}
