/** Long text cut to a size: its head, its tail, and exact figures of what lies between. */
export interface Clipped {
  readonly text: string;
  readonly clipped: boolean;
  readonly totalLines: number;
  readonly totalBytes: number;
  /** Lines left out whole, and bytes left out in all: with a line cut in two, bytes of it too. */
  readonly omittedLines: number;
  readonly omittedBytes: number;
  /** Lines, counted from 1, of which something was left out; 0 when nothing was. */
  readonly restFrom: number;
  readonly restTo: number;
  /** What was left out is `text.slice(restStart, restEnd)` of the whole text. */
  readonly restStart: number;
  readonly restEnd: number;
}

interface ClipOptions {
  readonly maxBytes: number;
  /** Placed between head and tail, after the omission line; counts toward the limit. */
  readonly summary?: string | undefined;
  readonly gap?: TextGap | undefined;
}

const largestSummary = 2048;
/** Room for the marker line, whatever its figures. */
const markerBytes = 96;

/** A part of the whole text that is missing here. */
export interface TextGap {
  /** Where in the text. */
  readonly at: number;
  readonly newlines: number;
  readonly bytes: number;
  /** A line begins after it. */
  readonly wholeLine: boolean;
}

/** About a quarter of head and three quarters of tail, in whole lines where lines are not over-long. */
export function clip(text: string, { maxBytes, summary = '', gap = none }: ClipOptions): Clipped {
  const bytes = Buffer.byteLength(text);
  const totalBytes = bytes + gap.bytes;
  const totalLines = countLines(text) + gap.newlines;
  if (bytes <= maxBytes && gap.at === 0) {
    const rest = { restFrom: 0, restTo: 0, restStart: 0, restEnd: 0 };
    return { text, clipped: false, totalLines, totalBytes, omittedLines: 0, omittedBytes: 0, ...rest };
  }
  const said = summary === '' ? '' : `${upTo(summary, Math.min(largestSummary, maxBytes >> 1))}\n`;
  const budget = Math.max(0, maxBytes - markerBytes - Buffer.byteLength(said));
  // Text before a gap is head, text after it is tail.
  const restStart = headEnd(gap.at > 0 ? text.slice(0, gap.at) : text, 0, Math.floor(budget / 4));
  const restEnd = tailStart(text, Math.max(restStart, gap.at), budget - Buffer.byteLength(text.slice(0, restStart)));
  const head = text.slice(0, restStart);
  const tail = text.slice(restEnd);
  const left = text.slice(restStart, restEnd);
  const omittedBytes = totalBytes - Buffer.byteLength(head) - Buffer.byteLength(tail) - (gap.at > 0 ? 0 : gap.bytes);
  const endsLine = gap.at > 0 && restEnd === gap.at ? gap.wholeLine : left.endsWith('\n');
  const restFrom = countNewlines(head) + 1 + (gap.at > 0 ? 0 : gap.newlines);
  const restTo = restFrom + countNewlines(left) + (gap.at > 0 ? gap.newlines : 0) - (endsLine ? 1 : 0);
  const cutHead = head !== '' && !head.endsWith('\n');
  const cutTail = tail !== '' && !endsLine;
  const omittedLines =
    restTo - restFrom + 1 - new Set([...(cutHead ? [restFrom] : []), ...(cutTail ? [restTo] : [])]).size;
  const marker = `[… ${omittedLines} lines, ${omittedBytes} bytes left out: ${place(restFrom, restTo)} of ${totalLines} …]`;
  return {
    text: `${head}${cutHead ? '\n' : ''}${marker}\n${said}${tail}`,
    clipped: true,
    totalLines,
    totalBytes,
    omittedLines,
    omittedBytes,
    restFrom,
    restTo,
    restStart,
    restEnd,
  };
}

const none: TextGap = { at: 0, newlines: 0, bytes: 0, wholeLine: true };

const place = (from: number, to: number): string => (from === to ? `in line ${from}` : `lines ${from}–${to}`);

/** Where a piece from `start` of at most `maxBytes` ends: after a whole line, or within the first if that is too long. */
export function headEnd(text: string, start: number, maxBytes: number): number {
  let end = start;
  let room = maxBytes;
  while (end < text.length) {
    const newline = text.indexOf('\n', end);
    const next = newline === -1 ? text.length : newline + 1;
    // No character takes less than a byte, so most lines that are too long need no counting.
    const bytes = next - end > maxBytes ? next - end : Buffer.byteLength(text.slice(end, next));
    if (bytes > room) return bytes > maxBytes ? end + upTo(text.slice(end, end + room), room).length : end;
    room -= bytes;
    end = next;
  }
  return end;
}

/** Where the last piece of at most `maxBytes` begins, not before `from`. */
function tailStart(text: string, from: number, maxBytes: number): number {
  let start = text.length;
  let room = maxBytes;
  while (start > from) {
    const previous = start >= 2 ? text.lastIndexOf('\n', start - 2) + 1 : 0;
    const line = Math.max(previous, from);
    const bytes = start - line > maxBytes ? start - line : Buffer.byteLength(text.slice(line, start));
    if (bytes > room)
      return bytes > maxBytes ? start - lastOf(text.slice(Math.max(line, start - room), start), room).length : start;
    room -= bytes;
    start = line;
  }
  return start;
}

/** The beginning of the text, at most so many bytes of it, cut between characters. */
export function upTo(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

function lastOf(text: string, maxBytes: number): string {
  // A slice may begin within a pair of surrogates.
  const whole = /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text;
  const bytes = Buffer.from(whole);
  let start = Math.max(0, bytes.length - maxBytes);
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.toString('utf8', start);
}

export function countLines(text: string): number {
  if (text === '') return 0;
  return countNewlines(text) + (text.endsWith('\n') ? 0 : 1);
}

export function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** Where a line, counted from 1, begins; the length of the text when it has fewer. */
export function lineStart(text: string, line: number): number {
  let at = 0;
  for (let i = 1; i < line; i++) {
    at = text.indexOf('\n', at) + 1;
    if (at === 0) return text.length;
  }
  return at;
}
