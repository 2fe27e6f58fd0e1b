import { columnsOf } from './columns.ts';
import { carriesString, esc, escapeEnd, movesCursor, movesToFirstColumn } from './escape-sequence.ts';

/** What a person would read in a stretch of raw terminal output, and where in it every character came from. */
export interface VisibleText {
  /** Hard line breaks and cursor moves are `\n`; soft wraps are gone, so a wrapped word reads as one. */
  readonly text: string;
  /** Raw index of the character at `index` of `text`. */
  readonly rawAt: (index: number) => number;
  /** Raw index after the last hard break; 0 without one. */
  readonly lineStart: number;
  /** Raw index of a sequence (or a lone CR) whose meaning depends on what comes next; else the raw length. */
  readonly tail: number;
  /** Raw ranges of sequences that carry strings, such as titles and clipboard contents. */
  readonly strings: readonly { readonly start: number; readonly end: number }[];
}

const needsParsing = /[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n)/;

/**
 * `cols` lets a line that ends exactly at the margin count as wrapped. With `final` nothing more will come: an
 * unfinished sequence is read as text.
 */
export function visibleText(raw: string, cols: number, final: boolean): VisibleText {
  if (!needsParsing.test(raw) && !mayWrap(raw, cols)) return plainText(raw);
  return new Reader(raw, cols, final).read();
}

/** The column behind a line that fits `visibleText`: a multiple of `cols` when it fills its row. */
export function endColumn(line: string, cols: number): number {
  return new Reader(line, cols, true).endColumn();
}

function plainText(raw: string): VisibleText {
  return {
    text: raw,
    rawAt: (index) => index,
    lineStart: raw.lastIndexOf('\n') + 1,
    tail: raw.length,
    strings: [],
  };
}

function mayWrap(raw: string, cols: number): boolean {
  if (cols <= 0) return false;
  let from = 0;
  for (;;) {
    const end = raw.indexOf('\n', from);
    if (end < 0) return false;
    if (end - from >= cols / 2) return true;
    from = end + 1;
  }
}

/** Text and tabs up to the next control character. */
const printable = /[^\x00-\x08\x0a-\x1f\x7f]+/y;

/** A run of characters that stand one after another in the raw output too. */
interface Run {
  text: string;
  /** Where it starts in the visible text, and in the raw. */
  readonly at: number;
  readonly raw: number;
}

class Reader {
  readonly #raw: string;
  readonly #cols: number;
  readonly #final: boolean;
  readonly #runs: Run[] = [];
  readonly #strings: { start: number; end: number }[] = [];
  #length = 0;
  /** Visible columns since the last hard break. */
  #column = 0;
  /** That of the last soft wrap: an empty row ends the line. */
  #rowFrom = 0;
  #lineStart = 0;

  constructor(raw: string, cols: number, final: boolean) {
    this.#raw = raw;
    this.#cols = cols;
    this.#final = final;
  }

  endColumn(): number {
    this.#toEnd();
    return this.#column;
  }

  #toEnd(): number {
    let index = 0;
    while (index < this.#raw.length) {
      const next = this.#step(index);
      if (next < 0) break;
      index = next;
    }
    return index;
  }

  read(): VisibleText {
    const raw = this.#raw;
    const index = this.#toEnd();
    return {
      text: this.#runs.map((run) => run.text).join(''),
      rawAt: (at) => this.#rawAt(at),
      lineStart: this.#lineStart,
      tail: Math.min(index, raw.length),
      strings: this.#strings,
    };
  }

  /** Index of the next thing to read; -1 when more output is needed to know. */
  #step(index: number): number {
    printable.lastIndex = index;
    const run = printable.exec(this.#raw)?.[0];
    if (run !== undefined) return this.#put(run, index);
    const code = this.#raw.charCodeAt(index);
    if (code === esc) return this.#escape(index);
    if (code === 0x0a) return this.#break(index, index + 1, true);
    if (code === 0x0d) return this.#carriageReturn(index);
    if (code === 0x08) this.#erase();
    return index + 1;
  }

  #escape(index: number): number {
    const end = escapeEnd(this.#raw, index);
    if (end < 0) return this.#final ? Math.min(index + 2, this.#raw.length) : -1;
    if (carriesString(this.#raw, index)) this.#strings.push({ start: index, end });
    else if (movesCursor(this.#raw, index, end)) this.#break(index, end, movesToFirstColumn(this.#raw, index, end));
    return end;
  }

  #carriageReturn(index: number): number {
    const next = this.#raw[index + 1];
    if (next === undefined) return this.#final ? this.#break(index, index + 1, false) : -1;
    if (next === '\n') return this.#break(index, index + 2, true);
    if (next === '\r') return index + 1;
    // Line editors wrap by writing a space beyond the margin and returning.
    const last = this.#runs.at(-1);
    if (last?.text.endsWith(' ') === true && last.raw + last.text.length === index) {
      this.#erase();
      return index + 1;
    }
    return this.#break(index, index + 1, false);
  }

  #break(start: number, end: number, mayBeSoft: boolean): number {
    const full = this.#cols > 0 && this.#column > this.#rowFrom && this.#column % this.#cols === 0;
    if (mayBeSoft && full) {
      this.#rowFrom = this.#column;
      return end;
    }
    this.#put('\n', start);
    this.#column = this.#rowFrom = 0;
    this.#lineStart = end;
    return end;
  }

  #put(text: string, raw: number): number {
    this.#runs.push({ text, at: this.#length, raw });
    this.#length += text.length;
    this.#column += columnsOf(text);
    return raw + text.length;
  }

  #erase(): void {
    const last = this.#runs.at(-1);
    if (last === undefined || last.text === '\n') return;
    const count = isLowSurrogate(last.text.charCodeAt(last.text.length - 1)) ? 2 : 1;
    this.#length -= Math.min(count, last.text.length);
    this.#column -= columnsOf(last.text.slice(-count));
    last.text = last.text.slice(0, -count);
    if (last.text === '') this.#runs.pop();
  }

  #rawAt(at: number): number {
    const runs = this.#runs;
    let [low, high] = [0, runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((runs[middle] as Run).at <= at) low = middle + 1;
      else high = middle;
    }
    const run = runs[low - 1];
    return run === undefined || at >= run.at + run.text.length ? this.#raw.length : run.raw + at - run.at;
  }
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
