import { esc, escapeEnd } from './escape-sequence.ts';
import { privateKeys } from './named-formats.ts';
import type { Span } from './span.ts';
import { type VisibleText, visibleText } from './visible-text.ts';

/** What finds secrets and how they are shown: the part of Redactor a stream needs. */
interface Rules {
  spans(text: string): Span[];
  mask(secret: string): string;
}

/** Output that may be shown, with the tag its last characters were pushed with. */
export interface RedactedPiece<T> {
  readonly text: string;
  readonly tag: T;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** More than this is never held back: the front of a longer line goes out, with enough kept to see a secret cut in two. */
const maxHeld = 16_384;
const overlap = 4_096;
const maxTags = 4_096;

/**
 * Masks secrets in output that arrives in pieces. A line is held until it ends (or the cursor moves elsewhere, or
 * `flush` says that nothing comes for now), so a secret cut in two, coloured, or wrapped is seen whole. After a flush the
 * line is remembered, and what completes a secret is still masked.
 */
export class StreamRedactor<T> {
  readonly #rules: Rules;
  #cols: number;
  /** Everything since the start of the line that is being held, also what is out already. */
  #raw = '';
  /** How much of `#raw` is out. */
  #sent = 0;
  /** Where in `#raw` each push ended. */
  #tags: { readonly end: number; readonly empty: boolean; readonly tag: T }[] = [];
  /** Start of the mask that the sent part ends with. */
  #openMask: number | undefined;
  #count = 0;

  constructor(rules: Rules, options: { readonly cols?: number } = {}) {
    this.#rules = rules;
    this.#cols = options.cols ?? 0;
  }

  /** Masks put in so far. */
  get count(): number {
    return this.#count;
  }

  /** What was pushed and is not out yet. */
  get heldText(): string {
    return this.#raw.slice(this.#sent);
  }

  get held(): number {
    return this.#raw.length - this.#sent;
  }

  /** It remembers nothing: a new stream that is given the rest would mask it the same way. */
  get isFresh(): boolean {
    return this.#raw === '' && this.#tags.length === 0;
  }

  resize(cols: number): void {
    this.#cols = cols;
  }

  /** Whatever is safe to show now. An empty `text` keeps its place: its piece comes out in order, empty. */
  push(text: string, tag: T): RedactedPiece<T>[] {
    this.#raw += text;
    this.#tags.push({ end: this.#raw.length, empty: text === '', tag });
    const full = this.held > maxHeld || this.#tags.length > maxTags;
    if (!full && text !== '' && !/[\n\r\x1b]/.test(text)) return [];
    if (!full && text === '' && this.held > 0) return [];
    return this.#release(full ? 'overflow' : 'lines');
  }

  /** Call when output pauses: shows what is held, all but an unfinished control sequence. */
  flush(): RedactedPiece<T>[] {
    return this.#release('flush');
  }

  /** Shows everything; the stream is over. */
  end(): RedactedPiece<T>[] {
    return this.#release('end');
  }

  #release(until: 'lines' | 'overflow' | 'flush' | 'end'): RedactedPiece<T>[] {
    if (this.#tags.length === 0) return [];
    const visible = visibleText(this.#raw, this.#cols, until === 'end');
    const open = privateKeys(visible.text).openFrom;
    const openAt = open === undefined ? Number.POSITIVE_INFINITY : visible.rawAt(open);
    let cut = until === 'end' ? this.#raw.length : visible.tail;
    if (until === 'lines') cut = Math.min(visible.lineStart, openAt);
    if (until === 'lines' && cut <= this.#sent && this.held > 0) return [];
    const edits = this.#edits(visible, cut);
    if (until === 'overflow') cut = this.#overflowCut(visible, edits);
    cut = Math.max(cut, this.#sent);
    const pieces = this.#pieces(edits, cut);
    this.#forget(cut, Math.min(visible.lineStart, openAt));
    return pieces;
  }

  /** A place short of the end, between characters and outside any secret. */
  #overflowCut(visible: VisibleText, edits: readonly Edit[]): number {
    const target = this.#raw.length - overlap;
    let [low, high] = [0, visible.text.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (visible.rawAt(middle) <= target) low = middle + 1;
      else high = middle;
    }
    const cut = low === 0 ? 0 : visible.rawAt(low - 1);
    const across = edits.find((edit) => edit.start < cut && cut < edit.end);
    const chosen = across === undefined ? cut : across.start > this.#sent ? across.start : across.end;
    // One sequence longer than all that may be held: let it go.
    return chosen > this.#sent ? chosen : this.#raw.length;
  }

  #edits(visible: VisibleText, cut: number): Edit[] {
    const edits: Edit[] = [];
    for (const span of this.#rules.spans(visible.text)) {
      const start = visible.rawAt(span.start);
      const end = visible.rawAt(span.end - 1) + 1;
      const secret = visible.text.slice(span.start, span.end);
      edits.push({ start, end, text: this.#rules.mask(secret) + controlsIn(this.#raw.slice(start, end), secret) });
    }
    for (const { start, end } of visible.strings) {
      if (end > this.#sent && start < cut) edits.push(...this.#editsInString(start, end));
    }
    return edits.sort((a, b) => a.start - b.start);
  }

  /** Titles, reported command lines and clipboard contents are text too. */
  #editsInString(start: number, end: number): Edit[] {
    const from = start + 2;
    const payload = this.#raw.slice(from, end);
    return this.#rules.spans(payload.replace(/[\x07\x1b][^]?$/, '')).map((span) => ({
      start: from + span.start,
      end: from + span.end,
      text: this.#rules.mask(payload.slice(span.start, span.end)),
    }));
  }

  #pieces(edits: readonly Edit[], cut: number): RedactedPiece<T>[] {
    const pieces: RedactedPiece<T>[] = [];
    let at = this.#sent;
    let next = 0;
    let openMask = this.#openMask;
    for (const { end: tagEnd, empty, tag } of this.#tags) {
      const end = Math.min(tagEnd, cut);
      let text = '';
      for (let edit = edits[next]; edit !== undefined && edit.start < end; edit = edits[++next]) {
        if (edit.end <= at) continue;
        // A longer secret than the last flush could see: its mask is out already.
        const shown = edit.start === openMask && edit.start < this.#sent;
        if (edit.start > at) text += this.#raw.slice(at, edit.start);
        if (!shown) {
          text += edit.text;
          this.#count++;
        }
        at = Math.min(edit.end, cut);
        openMask = edit.end >= cut ? edit.start : undefined;
      }
      if (at < end) {
        text += this.#raw.slice(at, end);
        at = end;
        openMask = undefined;
      }
      if (text !== '' || (empty && tagEnd <= cut)) pieces.push({ text, tag });
      if (tagEnd > cut) break;
    }
    this.#openMask = openMask;
    return pieces;
  }

  /** Drops what no later secret can reach back to. */
  #forget(cut: number, lineStart: number): void {
    const keepFrom = Math.max(Math.min(cut, lineStart), cut - overlap);
    const openMask = this.#openMask;
    this.#tags = this.#tags
      .filter((entry) => entry.end > cut)
      .map((entry) => ({ ...entry, end: entry.end - keepFrom }));
    this.#raw = this.#raw.slice(keepFrom);
    this.#sent = cut - keepFrom;
    this.#openMask = openMask === undefined || openMask < keepFrom ? undefined : openMask - keepFrom;
  }
}

/** Colours and line ends inside a masked stretch stay; the lines of a secret of several lines go. */
function controlsIn(raw: string, secret: string): string {
  const keepLineEnds = !secret.includes('\n');
  let kept = '';
  for (let at = 0; at < raw.length; at++) {
    const code = raw.charCodeAt(at);
    if (code === esc) {
      const end = escapeEnd(raw, at);
      if (end < 0) break;
      kept += raw.slice(at, end);
      at = end - 1;
    } else if (keepLineEnds && (code === 0x0a || code === 0x0d)) kept += raw[at];
  }
  return kept;
}
