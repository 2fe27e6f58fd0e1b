import { esc } from './escape-sequence.ts';
import { endColumn } from './visible-text.ts';
import { bytesThat, isControl, isLetter, lower, third, type TriggerTables } from './trigger-tables.ts';

/*
 * A quick look at output before any rule reads it. No rule finds a secret without one of some words, a long run of
 * letters and digits, or a sequence or wrap that may hide either. Most of a flood has none of them.
 */

const inRun = bytesThat((char) => /[A-Za-z0-9+/_=-]/.test(char));
const isParameter = bytesThat((char) => /[ -?]/.test(char));
const hasControl = Uint8Array.from({ length: 65_536 }, (_, pair) =>
  Math.max(isControl[pair >> 8] as number, isControl[pair & 255] as number),
);

type Words = TriggerTables['wordsOf'][number];

const longRun = 38;
const stretch = longRun / 2;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const blank = 0x20;

/** Looked at together. Places worth a look are first written down without a branch, which is what makes this quick. */
const blockBytes = 4096;
const places = new Int32Array(blockBytes / 2 + 2);

/** The line that is being read: where it begins, its bytes that take no column, and where its next control may stand. */
const line = { from: 0, hidden: 0, next: 0 };

/**
 * Where in output a secret may stand; -1 if there is no such place. `cols`: a line that fills the width may go on in
 * the next.
 */
export function findTrigger(bytes: Uint8Array, from: number, to: number, cols: number, tables: TriggerTables): number {
  line.from = line.next = from;
  line.hidden = 0;
  for (let block = from; block < to; block += blockBytes) {
    const end = Math.min(block + blockBytes, to);
    const run = longRunIn(bytes, block, end, from, to, inRun);
    const likely = likelyIn(bytes, placesIn(bytes, block, end, places, tables.pairs), places, to, tables);
    for (let index = 0; index < likely; index++) {
      const place = places[index] as number;
      if (run >= 0 && place > run) return run;
      const pair = ((bytes[place - 1] as number) << 8) | (bytes[place] as number);
      if (hasControl[pair] === 0) {
        if (isWordAt(bytes, place - 1, from, to, tables)) return place;
        continue;
      }
      const first = isControl[pair >> 8] as number;
      if (hides(bytes, place - first, from, to, cols, tables.inWord)) return place - first;
      if (first === 1 && isControl[pair & 255] === 1 && hides(bytes, place, from, to, cols, tables.inWord))
        return place;
    }
    if (run >= 0) return run;
  }
  const last = to - 1;
  return to > from && isControl[bytes[last] as number] === 1 && hides(bytes, last, from, to, cols, tables.inWord)
    ? last
    : -1;
}

/** Whether the control at this place may hide a word: it stands between two of its letters, or of its rows. */
function hides(bytes: Uint8Array, at: number, from: number, to: number, cols: number, inWord: Uint8Array): boolean {
  if (at < line.next) return false;
  const byte = bytes[at] as number;
  let next = at + 1;
  let hidden = false;
  if (byte === lineFeed) {
    hidden = cols > 0 && at - line.from - line.hidden >= cols && wraps(bytes, line.from, at, to, cols, inWord);
    line.from = next;
    line.hidden = 0;
  } else if (byte === carriageReturn) {
    line.hidden++;
    hidden = isWrapOfEditor(bytes, at, from, to);
  } else if (byte === esc) {
    next = pastSequences(bytes, at, to);
    if (next < 0) return true;
    line.hidden += next - at;
    hidden = at > from && next < to && inWord[bytes[at - 1] as number] === 1 && inWord[bytes[next] as number] === 1;
  } else return true;
  line.next = next;
  return hidden;
}

function placesIn(bytes: Uint8Array, from: number, to: number, found: Int32Array, table: Uint8Array): number {
  let count = 0;
  for (let at = from + 1; at < to; at += 2) {
    found[count] = at;
    count += table[((bytes[at - 1] as number) << 8) | (bytes[at] as number)] as number;
  }
  return count;
}

/** Of these places, those with a third letter that fits. */
function likelyIn(bytes: Uint8Array, count: number, found: Int32Array, to: number, tables: TriggerTables): number {
  const withNext = tables.withNext;
  const withPrevious = tables.withPrevious;
  let likely = 0;
  for (let index = 0; index < count; index++) {
    const at = found[index] as number;
    const pair = ((bytes[at - 1] as number) << 8) | (bytes[at] as number);
    found[likely] = at;
    likely +=
      (withNext[third(pair, at + 1 < to ? (bytes[at + 1] as number) : blank)] as number) |
      (withPrevious[third(pair, at > 1 ? (bytes[at - 2] as number) : blank)] as number) |
      (hasControl[pair] as number);
  }
  return likely;
}

/**
 * A place in a long run that has a part in this block; -1 without one. A run of 38 holds one of the stretches of 19
 * that are looked at, whole; few others have a letter or digit at every second place.
 */
function longRunIn(bytes: Uint8Array, block: number, end: number, from: number, to: number, table: Uint8Array): number {
  for (let at = block; at + stretch <= to && at < end; at += stretch) {
    const likely =
      (table[bytes[at] as number] as number) &
      (table[bytes[at + 2] as number] as number) &
      (table[bytes[at + 4] as number] as number) &
      (table[bytes[at + 6] as number] as number) &
      (table[bytes[at + 9] as number] as number) &
      (table[bytes[at + 12] as number] as number) &
      (table[bytes[at + 15] as number] as number) &
      (table[bytes[at + 18] as number] as number);
    if (likely === 0) continue;
    let first = at;
    while (first > from && table[bytes[first - 1] as number] === 1) first--;
    let last = at;
    while (last < to && table[bytes[last] as number] === 1) last++;
    if (last - first >= longRun) return at;
  }
  return -1;
}

/** A line editor wraps with a blank and a return. */
function isWrapOfEditor(bytes: Uint8Array, at: number, from: number, to: number): boolean {
  const next = at + 1 < to ? bytes[at + 1] : blank;
  return next !== lineFeed && next !== carriageReturn && at > from && bytes[at - 1] === blank;
}

/** Whether one of the words of the pair at `pair` stands around it. */
function isWordAt(bytes: Uint8Array, pair: number, from: number, to: number, tables: TriggerTables): boolean {
  const found = tables.wordsAt[((bytes[pair] as number) << 8) | (bytes[pair + 1] as number)] as number;
  const list = tables.wordsOf[found] as Words;
  for (let index = 0; index < list.length; index++) {
    const entry = list[index] as Words[number];
    const probe = pair + entry.probe;
    if (
      probe < from ||
      probe >= to ||
      (entry.word.isExact ? bytes[probe] : lower[bytes[probe] as number]) !== entry.probed
    )
      continue;
    if (stands(entry, bytes, pair - entry.offset, from, to)) return true;
  }
  return false;
}

function stands(
  { word, bytes: text }: Words[number],
  bytes: Uint8Array,
  at: number,
  from: number,
  to: number,
): boolean {
  const end = at + text.length;
  if (at < from || end > to) return false;
  // The letter before may be the last of a colour.
  if (word.isStart && at > from && at !== line.next && isLetter(bytes[at - 1] as number)) return false;
  for (let index = 0; index < text.length; index++) {
    const byte = bytes[at + index] as number;
    if ((word.isExact ? byte : lower[byte]) !== text[index]) return false;
  }
  return !(word.isEnd && end < to && isLetter(bytes[end] as number));
}

/** Index after the control sequences at `from`, one behind the other; -1 for those that carry text or have no end. */
function pastSequences(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  do {
    const kind = at + 1 < to ? (bytes[at + 1] as number) : 0;
    at += 2;
    if (kind === 0x5b) while (at < to && isParameter[bytes[at] as number] === 1) at++;
    else if (kind >= 0x20 && kind < 0x30) while (at < to && isIntermediate(bytes[at] as number)) at++;
    else if (kind < 0x30 || kind > 0x7e || carriesText(kind)) return -1;
    else continue;
    const final = at < to ? (bytes[at] as number) : 0;
    if (final < 0x30 || final > 0x7e) return -1;
    at++;
  } while (at < to && bytes[at] === esc);
  return at;
}

const isIntermediate = (byte: number): boolean => byte >= 0x20 && byte < 0x30;

/** DCS, SOS, OSC, PM, APC. */
const carriesText = (kind: number): boolean => kind === 0x50 || kind === 0x58 || (kind >= 0x5d && kind <= 0x5f);

/** A full line whose last letter may go on in the first of the next. */
function wraps(
  bytes: Uint8Array,
  from: number,
  newline: number,
  to: number,
  cols: number,
  inWord: Uint8Array,
): boolean {
  const end = bytes[newline - 1] === carriageReturn ? newline - 1 : newline;
  const after = newline + 1 < to ? (bytes[newline + 1] as number) : blank;
  if (inWord[after] === 0 && after !== esc) return false;
  // A colour may be the last thing in the line: its letter is one of a word, too.
  return inWord[bytes[end - 1] as number] === 1 && fillsRow(bytes, from, end, cols);
}

/** Whether the line between these places, without its end, fills its last row. */
export function fillsRow(bytes: Uint8Array, from: number, to: number, cols: number): boolean {
  const end = to > from && bytes[to - 1] === carriageReturn ? to - 1 : to;
  const shown = columnsOfColoured(bytes, from, end);
  const columns = shown ?? endColumn(Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from).toString(), cols);
  return columns > 0 && columns % cols === 0;
}

/** The columns of a line of ASCII and colours; undefined if there is anything else in it. */
function columnsOfColoured(bytes: Uint8Array, from: number, to: number): number | undefined {
  let columns = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte >= blank && byte < 0x7f) columns++;
    else if (byte !== esc || bytes[at + 1] !== 0x5b) return undefined;
    else {
      at += 2;
      while (at < to && isParameter[bytes[at] as number] === 1) at++;
      if (at >= to || bytes[at] !== 0x6d) return undefined;
    }
  }
  return columns;
}
