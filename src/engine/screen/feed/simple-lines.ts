import { plainText } from '../../../lib/plain-text.ts';
import { codePointAt, linkEnd, type Widths } from './plain-scan.ts';

/** Lines whose text can be read off their bytes, because an emulator would show just that. */
export interface SimpleLines {
  /** The first byte after the last such line. */
  readonly end: number;
  readonly hasTabs: boolean;
  readonly hasEscapes: boolean;
  readonly isAscii: boolean;
  /** `plainText` would change nothing in them. */
  readonly isPlain: boolean;
  readonly newlines: number;
  /** Bytes of their text in UTF-8, without the newlines. */
  readonly textBytes: number;
}

const escapeByte = 0x1b;

/**
 * Follows whole lines from the start of a row: printable characters, tabs among ASCII, colours that hide nothing, links,
 * and CR LF at the end. Stops at the first line with anything else in it.
 */
export function scanSimpleLines(
  bytes: Uint8Array,
  from: number,
  to: number,
  cols: number,
  widths: Widths,
): SimpleLines {
  const found = {
    end: from,
    hasTabs: false,
    hasEscapes: false,
    isAscii: true,
    isPlain: true,
    newlines: 0,
    textBytes: 0,
  };
  let i = from;
  while (i < to) {
    const start = i;
    let x = 0;
    let tabs = false;
    let escapes = false;
    let ascii = true;
    let plain = true;
    let textBytes = 0;
    /** A tab at the end of a line leaves no text. */
    let tabBlanks = 0;
    line: while (i < to) {
      const byte = bytes[i] as number;
      if (byte >= 0x20 && byte < 0x7f) {
        let end = i + 1;
        while (end < to && ((bytes[end] as number) - 0x20) >>> 0 < 0x5f) end++;
        x += end - i;
        textBytes += tabBlanks + end - i;
        tabBlanks = 0;
        i = end;
        continue;
      }
      if (byte >= 0xc2) {
        const code = codePointAt(bytes, i);
        // Wide characters leave a blank at the end of some rows: where a tab leads after one takes more care than this.
        if (code < 0xa0 || columns(widths, code) === 0 || tabs) return found;
        ascii = false;
        plain &&= isPlain(code);
        x++;
        const length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        textBytes += length;
        i += length;
        continue;
      }
      switch (byte) {
        case 0x0d: {
          let end = i + 1;
          while (bytes[end] === 0x0d) end++;
          if (bytes[end] !== 0x0a || end >= to) return found;
          i = end + 1;
          break line;
        }
        case 0x0a:
          if (i !== start) return found;
          i++;
          break line;
        case 0x09:
          if (!ascii) return found;
          tabs = true;
          tabBlanks += tabWidth(x, cols);
          x += tabWidth(x, cols);
          i++;
          break;
        case escapeByte: {
          const end = bytes[i + 1] === 0x5d ? linkEnd(bytes, i) : harmlessEnd(bytes, i, x % cols === 0 && x > 0);
          if (end < 0) return found;
          escapes = true;
          i = end;
          break;
        }
        default:
          return found;
      }
    }
    if (i > to || bytes[i - 1] !== 0x0a) return found;
    found.end = i;
    found.hasTabs ||= tabs;
    found.hasEscapes ||= escapes;
    found.isAscii &&= ascii;
    found.isPlain &&= plain;
    found.newlines++;
    found.textBytes += textBytes;
  }
  return found;
}

function columns({ table, ask, learn }: Widths, code: number): number {
  const known = code < table.length ? (table[code] as number) : ask(code);
  return known === 255 ? learn(code) : known;
}

/** A tab moves on to a multiple of eight, never past the last column. `x` counts over the wraps of a line. */
function tabWidth(x: number, cols: number): number {
  const column = x === 0 ? 0 : ((x - 1) % cols) + 1;
  return column < cols ? Math.min((column | 7) + 1, cols - 1) - column : 0;
}

/** By code point, of the first two planes: 0 until met, 1 plain, 2 not. A regular expression over all text is slower by far. */
let plainness: Uint8Array | undefined;

function isPlain(code: number): boolean {
  const known = (plainness ??= new Uint8Array(0x20000));
  if (code >= known.length) return false;
  if (known[code] === 0) {
    const character = String.fromCodePoint(code);
    // Too many marks in a row are not plain, though each of them is.
    known[code] = plainText(character).text === character && !/\p{M}/u.test(character) ? 1 : 2;
  }
  return known[code] === 1;
}

/** The text of lines found by `scanSimpleLines`, each with its newline. */
export function simpleText(bytes: Uint8Array, from: number, to: number, lines: SimpleLines, cols: number): string {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from);
  let text = view.toString(lines.isAscii ? 'latin1' : 'utf8');
  if (lines.hasEscapes) text = text.replace(/\x1b(?:\[[0-9;]*[mK]|\]8;[ -~]*(?:\x07|\x1b\\))/g, '');
  text = text.replace(/\r+\n/g, '\n');
  if (!lines.hasTabs) return text;
  return text.replace(/.*\t.*/g, (line) => withoutTabs(line, cols));
}

/** As the emulator has it: a tab moves the cursor and prints nothing. */
function withoutTabs(line: string, cols: number): string {
  let text = '';
  let x = 0;
  let blanks = 0;
  for (const character of line) {
    if (character === '\t') {
      blanks += tabWidth(x, cols);
      x += tabWidth(x, cols);
      continue;
    }
    text += blanks > 0 ? ' '.repeat(blanks) + character : character;
    blanks = 0;
    x++;
  }
  return text;
}

/** Where `ESC [ … m` ends if the colours in it hide nothing, or `ESC [ K` not in the last column; else -1. */
function harmlessEnd(bytes: Uint8Array, at: number, lastColumn: boolean): number {
  if (bytes[at + 1] !== 0x5b) return -1;
  let i = at + 2;
  let value = 0;
  const values: number[] = [];
  for (; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte >= 0x30 && byte <= 0x39) value = Math.min(999, value * 10 + byte - 0x30);
    else if (byte === 0x3b && values.length < 8) {
      values.push(value);
      value = 0;
    } else break;
  }
  values.push(value);
  if (bytes[i] === 0x4b) return values.length === 1 && value === 0 && !lastColumn ? i + 1 : -1;
  return bytes[i] === 0x6d && values.every(harmless) ? i + 1 : -1;
}

/** No background, no black, nothing concealed; and of 38 only what cannot be dark. */
function harmless(value: number, index: number, values: readonly number[]): boolean {
  if (values[0] === 38) return index === 0 ? values.length === 3 && values[1] === 5 : index === 1 || brightIndex(value);
  return value !== 8 && value !== 30 && value !== 38 && (value < 40 || value === 49 || (value >= 90 && value <= 97));
}

const brightIndex = (value: number): boolean =>
  value !== 0 && value !== 16 && value < 256 && (value < 232 || value > 238);
