import { type PlainText, plainText } from '../../lib/plain-text.ts';
import { esc, escapeEnd } from '../redaction/escape-sequence.ts';

/** A sequence longer than this that has no end yet is none: what follows is shown. */
const longestCut = 4096;

/**
 * What a program printed, as text, where there is no screen to show it on: escape sequences are left out whole, and the
 * ends of lines are `\n`. The rest is as everywhere what plainText leaves of it.
 */
export function plainOutput(printed: string): PlainText {
  return plainText(withUnixLines(withoutSequences(printed)));
}

/** How many bytes at the end are the beginning of an escape sequence whose rest may still come. */
export function cutSequence(bytes: Uint8Array): number {
  const start = bytes.lastIndexOf(esc);
  const length = bytes.length - start;
  if (start < 0 || length > longestCut) return 0;
  return escapeEnd(Buffer.from(bytes.subarray(start)).toString('latin1'), 0) === -1 ? length : 0;
}

function withoutSequences(printed: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (let at = printed.indexOf('\x1b'); at >= 0; at = printed.indexOf('\x1b', at)) {
    const end = escapeEnd(printed, at);
    const isCut = end === -1;
    if (isCut && printed.length - at > longestCut) {
      at += 1;
      continue;
    }
    pieces.push(printed.slice(from, at));
    from = isCut ? printed.length : end;
    at = from;
  }
  return from === 0 ? printed : `${pieces.join('')}${printed.slice(from)}`;
}

/**
 * A carriage return ends a line that is drawn again; at the start of one it does nothing. A run of them is looked at from its
 * first one only: from each of them it would take the square of its length.
 */
function withUnixLines(text: string): string {
  return text.includes('\r')
    ? text
        .replace(/(?<!\r)\r+\n/g, '\n')
        .replace(/(^|\n)\r+/g, '$1')
        .replace(/\r+/g, '\n')
    : text;
}
