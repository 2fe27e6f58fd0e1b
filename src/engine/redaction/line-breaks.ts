import { esc } from './escape-sequence.ts';
import { fillsRow } from './trigger.ts';

const lineFeed = 0x0a;
/** So many sequences are looked at, from the end, for one that moves the cursor. */
const mostSequences = 64;

/** Index after the last place at which a line surely ends, or the cursor leaves it; 0 without one. */
export function lastHardBreak(bytes: Buffer, cols: number): number {
  let newline = bytes.lastIndexOf(lineFeed);
  while (newline >= 0 && isFull(bytes, newline, cols))
    newline = newline === 0 ? -1 : bytes.lastIndexOf(lineFeed, newline - 1);
  return lastMove(bytes, newline + 1, cols);
}

/** The line around a place, with the lines that are its continuation. */
export function lineAround(bytes: Buffer, at: number, from: number, to: number, cols: number): [number, number] {
  let start = at === 0 ? 0 : bytes.lastIndexOf(lineFeed, at - 1) + 1;
  while (start > from && isFull(bytes, start - 1, cols))
    start = start < 2 ? 0 : bytes.lastIndexOf(lineFeed, start - 2) + 1;
  let newline = bytes.indexOf(lineFeed, at);
  while (newline >= 0 && newline < to && isFull(bytes, newline, cols)) newline = bytes.indexOf(lineFeed, newline + 1);
  return [Math.max(start, from), newline < 0 || newline >= to ? to : newline + 1];
}

/** Whether the line that ends here may only be a row of one: it fills the width. */
function isFull(bytes: Buffer, newline: number, cols: number): boolean {
  if (cols <= 0) return false;
  const from = newline === 0 ? 0 : bytes.lastIndexOf(lineFeed, newline - 1) + 1;
  if (newline - from < cols) return false;
  return fillsRow(bytes, from, newline, cols);
}

/** Index after the last move of the cursor that cannot be a wrap; `from` without one. */
function lastMove(bytes: Buffer, from: number, cols: number): number {
  let later = -1;
  let at = bytes.length;
  for (let looked = 0; looked < mostSequences && at > from; looked++) {
    at = bytes.lastIndexOf(esc, at - 1);
    if (at < from) break;
    const end = moveEnd(bytes, at);
    if (end === 0) continue;
    // The move behind this one: little was written in between, so no row was filled.
    if (later > 0 && (cols <= 0 || later - end < cols)) return later;
    if (!toFirstColumn(bytes, at, end)) return end;
    later = end;
  }
  return from;
}

/** Index after a sequence that moves the cursor; 0 for any other, and for one that has no end yet. */
function moveEnd(bytes: Buffer, start: number): number {
  if (bytes[start + 1] !== 0x5b) return 0;
  let at = start + 2;
  while (at < bytes.length && (bytes[at] as number) >= 0x20 && (bytes[at] as number) < 0x40) at++;
  return at < bytes.length && (bytes[at] === 0x48 || bytes[at] === 0x66) ? at + 1 : 0;
}

/** `ESC [ H`, `ESC [ 5 H`, `ESC [ 5 ; 1 H`. */
function toFirstColumn(bytes: Buffer, start: number, end: number): boolean {
  const column = bytes.toString('latin1', start + 2, end - 1).split(';')[1] ?? '';
  return column === '' || column === '0' || column === '1';
}
