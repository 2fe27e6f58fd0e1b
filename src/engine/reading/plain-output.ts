import { type PlainText, plainText } from '../../lib/plain-text.ts';
import { esc, escapeEnd } from '../redaction/escape-sequence.ts';

/** A longer unterminated sequence is treated as text. */
const longestCut = 4096;

/**
 * A program's output as text without a screen: escape sequences are removed, line ends are `\n`, and `plainText` cleans
 * the rest.
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
 * A carriage return ends a line that is redrawn; at the start of a line it does nothing. The lookbehind visits a run of
 * them once: matching from each would take quadratic time.
 */
function withUnixLines(text: string): string {
  return text.includes('\r')
    ? text
        .replace(/(?<!\r)\r+\n/g, '\n')
        .replace(/(^|\n)\r+/g, '$1')
        .replace(/\r+/g, '\n')
    : text;
}
