import { plainText } from '../../../lib/plain-text.ts';
import type { LineSink } from '../../screen/transcript.ts';
import { countNewlines } from '../clip.ts';

export interface Totals {
  readonly lines: number;
  /** In UTF-8, with the newlines between the lines. */
  readonly bytes: number;
}

/** Counts a text that is not kept, as a reader would get it: plain, and without blank lines at its end. */
export class CountedText implements LineSink {
  #newlines = 0;
  #bytes = 0;
  /** Blank lines are counted when something follows them. */
  #blank: Totals = { lines: 0, bytes: 0 };
  #isEmpty = true;
  /** `begin` was called for the line that comes next. */
  #begun = 0;

  get totals(): Totals {
    return this.#isEmpty ? { lines: 0, bytes: 0 } : { lines: this.#newlines + 1, bytes: this.#bytes };
  }

  copy(): CountedText {
    const copy = new CountedText();
    copy.#newlines = this.#newlines;
    copy.#bytes = this.#bytes;
    copy.#blank = this.#blank;
    copy.#isEmpty = this.#isEmpty;
    copy.#begun = this.#begun;
    return copy;
  }

  begin(part: string): void {
    this.#begun += bytesOf(part);
  }

  add(lines: string, isAscii = false): void {
    const end = lines.trimEnd().length;
    const newline = end === 0 ? 0 : lines.indexOf('\n', end);
    // What `begin` was given is no blank line.
    const isBlank = end === 0 && this.#begun === 0;
    const text = newline === -1 || (end === 0 && !isBlank) ? lines : lines.slice(0, newline);
    const blank = lines.slice(text.length);
    if (!isBlank) this.count(countNewlines(text), isAscii ? text.length : bytesOf(text));
    const blankLines = isBlank ? countNewlines(lines) + 1 : countNewlines(blank);
    this.#blank = {
      lines: this.#blank.lines + blankLines,
      bytes: this.#blank.bytes + bytesOf(blank) + (isBlank ? 1 : 0),
    };
  }

  count(newlines: number, bytes: number): void {
    this.#newlines += this.#blank.lines + newlines + (this.#isEmpty ? 0 : 1);
    this.#bytes += this.#blank.bytes + this.#begun + bytes + (this.#isEmpty ? 0 : 1);
    this.#blank = { lines: 0, bytes: 0 };
    this.#begun = 0;
    this.#isEmpty = false;
  }
}

const bytesOf = (text: string): number => Buffer.byteLength(plainText(text, { separator: ' ' }).text);
