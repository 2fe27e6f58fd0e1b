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
    if (end - from >= cols) return true;
    from = end + 1;
  }
}

class Reader {
  readonly #raw: string;
  readonly #cols: number;
  readonly #final: boolean;
  readonly #chars: string[] = [];
  readonly #at: number[] = [];
  readonly #strings: { start: number; end: number }[] = [];
  /** Visible columns since the last hard break. */
  #column = 0;
  #lineStart = 0;

  constructor(raw: string, cols: number, final: boolean) {
    this.#raw = raw;
    this.#cols = cols;
    this.#final = final;
  }

  read(): VisibleText {
    const raw = this.#raw;
    let index = 0;
    while (index < raw.length) {
      const next = this.#step(index);
      if (next < 0) break;
      index = next;
    }
    const at = this.#at;
    return {
      text: this.#chars.join(''),
      rawAt: (i) => at[i] ?? raw.length,
      lineStart: this.#lineStart,
      tail: Math.min(index, raw.length),
      strings: this.#strings,
    };
  }

  /** Index of the next thing to read; -1 when more output is needed to know. */
  #step(index: number): number {
    const raw = this.#raw;
    const code = raw.charCodeAt(index);
    if (code === esc) return this.#escape(index);
    if (code === 0x0a) return this.#break(index, index + 1, true);
    if (code === 0x0d) return this.#carriageReturn(index);
    if (code === 0x08) {
      this.#erase();
      return index + 1;
    }
    if (code >= 0x20 ? code !== 0x7f : code === 0x09) this.#put(raw[index] as string, index);
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
    if (this.#chars.at(-1) === ' ' && this.#at.at(-1) === index - 1) {
      this.#erase();
      return index + 1;
    }
    return this.#break(index, index + 1, false);
  }

  #break(start: number, end: number, mayBeSoft: boolean): number {
    const full = this.#cols > 0 && this.#column > 0 && this.#column % this.#cols === 0;
    if (mayBeSoft && full) return end;
    this.#chars.push('\n');
    this.#at.push(start);
    this.#column = 0;
    this.#lineStart = end;
    return end;
  }

  #put(char: string, index: number): void {
    this.#chars.push(char);
    this.#at.push(index);
    const code = char.charCodeAt(0);
    if (code < 0xdc00 || code > 0xdfff) this.#column++;
  }

  #erase(): void {
    const last = this.#chars.at(-1);
    if (last === undefined || last === '\n') return;
    this.#chars.pop();
    this.#at.pop();
    this.#column--;
  }
}
