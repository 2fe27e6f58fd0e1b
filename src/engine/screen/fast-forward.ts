import { type Core, widthOf } from './core.ts';
import type { Emulator } from './emulator.ts';

/**
 * Text that will have scrolled out of the retained rows before anybody can look at it need not go through the emulator.
 * Only what can be followed exactly counts as such text: printable characters, CR, LF, TAB, BS, colours (SGR), erasing
 * within a line (EL) and links (OSC 8, which have no effect here). The rows it scrolls are counted, wraps included, and of its colours only the last matter.
 */
export interface Plain {
  /** How many bytes may be skipped; 0 when none. The cursor is at the start of a row after them. */
  readonly skip: number;
  /** Rows the skipped bytes move down. */
  readonly rows: number;
  /** Where the colours that still hold at `skip` begin to be set. */
  readonly penFrom: number;
  /** Where the text that can be followed ends. */
  readonly end: number;
}

const escapeByte = 0x1b;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const tab = 0x09;
const backspace = 0x08;

/** Follows `bytes` from column `x`; the skipped part leaves at least `spare` rows after it. */
export function scanPlain(bytes: Uint8Array, cols: number, x: number, spare: number, widths: Widths): Plain {
  const { table } = widths;
  const length = bytes.length;
  // Possible cuts lie this many rows apart, so that fewer than twenty are pending at any time.
  const apart = Math.max(8, spare >> 4);
  const pending: { at: number; rows: number; penFrom: number }[] = [];
  let best = { at: 0, rows: 0, penFrom: 0 };
  let nextCut = apart;
  let rows = 0;
  let penFrom = 0;
  // A combining character joins the one printed right before it; after anything else the emulator gives it a cell.
  let joins = false;
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
      let columns = code < tableSize ? (table[code] as number) : widths.ask(code);
      if (columns === unknown) columns = widths.learn(code);
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
        if (x === 0 && rows >= nextCut) {
          nextCut = rows + apart;
          pending.push({ at: i + 1, rows, penFrom });
          while (pending[0] && rows - pending[0].rows >= spare) best = pending.shift() ?? best;
        }
        i++;
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
        if (isReset) penFrom = i;
        i = end;
        break;
      }
      default:
        break scan;
    }
    joins = false;
  }
  while (pending[0] && rows - pending[0].rows >= spare) best = pending.shift() ?? best;
  return { skip: best.at, rows: best.rows, penFrom: best.penFrom, end: i };
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

/** Fewer bytes are not worth looking through. */
export const worthScanning = 16 << 10;
const worthSkipping = 4 << 10;
/** What follows the skipped part is fed in one go, so that nobody sees the screen in between. */
const mostInOneGo = 256 << 10;

export interface Forwarded {
  /** Bytes that are done with. */
  readonly bytes: number;
  /** Up to here, looking again is useless. */
  readonly scanned: number;
}

/** Skips the beginning of `bytes` if what follows scrolls all of it away, and feeds what follows. */
export function fastForward(emulator: Emulator, bytes: Uint8Array): Forwarded {
  const { core } = emulator;
  if (bytes.length < worthScanning || !emulator.atRest || !isOrdinary(core)) return { bytes: 0, scanned: 0 };
  // The rest has to push out every retained row, counted from wherever on the screen the cursor stands now.
  const spare = emulator.scrollback + 2 * core.rows;
  const { skip, rows, penFrom, end } = scanPlain(bytes, core.cols, core.buffers.active.x, spare, widthsOf(core));
  if (skip < worthSkipping || end - skip > mostInOneGo) return { bytes: 0, scanned: end };
  emulator.feed(penOf(bytes, penFrom, skip));
  emulator.trimmed += rows;
  emulator.feed(bytes.subarray(skip, end));
  return { bytes: end, scanned: end };
}

/** Nothing is set that would make plain text do more than print and scroll. */
export function isOrdinary({ buffers, coreService, rows, cols, _charsetService }: Core): boolean {
  const { active, normal } = buffers;
  const { origin, wraparound, reverseWraparound } = coreService.decPrivateModes;
  return (
    active === normal &&
    active.scrollTop === 0 &&
    active.scrollBottom === rows - 1 &&
    active.x <= cols &&
    !origin &&
    wraparound &&
    !reverseWraparound &&
    !coreService.modes.insertMode &&
    _charsetService.charset === undefined &&
    hasUsualTabs(active.tabs, cols)
  );
}

function hasUsualTabs(tabs: Record<number, boolean | undefined>, cols: number): boolean {
  for (let x = 0; x < cols; x++) if (Boolean(tabs[x]) !== (x % 8 === 0)) return false;
  return true;
}

/** The colour changes between `from` and `to`, and a return to the row's start. */
export function penOf(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const part = bytes.subarray(from, to);
  const parts: Uint8Array[] = [];
  for (let at = part.indexOf(escapeByte); at >= 0; at = part.indexOf(escapeByte, at + 1)) {
    const end = sequenceEnd(part, at);
    if (end > 0 && part[end - 1] === 0x6d) parts.push(part.subarray(at, end));
  }
  parts.push(Uint8Array.of(carriageReturn));
  return Buffer.concat(parts);
}

const tableSize = 0x10000;
const unknown = 255;

/** Columns of characters. Asking the emulator every time is ten times slower than a table; it is filled as they are met. */
export interface Widths {
  /** By code point below 0x10000; 255 until met. */
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
