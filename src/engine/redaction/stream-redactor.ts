import { isUtf8 } from 'node:buffer';
import { incompleteTail } from '../../lib/utf8.ts';
import { esc, escapeEnd } from './escape-sequence.ts';
import { lastHardBreak, lineAround } from './line-breaks.ts';
import { privateKeys } from './named-formats.ts';
import type { Span } from './span.ts';
import { findTrigger } from './trigger.ts';
import type { TriggerTables } from './trigger-tables.ts';
import { decoded } from './utf8.ts';
import { type VisibleText, visibleText } from './visible-text.ts';

/** What finds secrets and how they are shown: the part of Redactor a stream needs. */
interface Rules {
  /** Output without these holds no secret. Undefined: all output is to be read. */
  readonly triggers: TriggerTables | undefined;
  spans(text: string): Span[];
  mask(secret: string): string;
}

/** Output that may be shown, with the tag its last characters were pushed with. */
export interface RedactedPiece<T> {
  readonly text: string;
  readonly tag: T;
}

export interface StreamOptions<T> {
  /** A line that fills the width counts as wrapped. */
  readonly cols?: number;
  /** Whether output of so many bytes may come out with the tag of what is held before it. A piece less to write. */
  readonly joins?: (held: T, next: T, bytes: number) => boolean;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What can go out: up to `cut`, with these edits; a later secret cannot reach back before `lineStart`. */
interface Plan {
  readonly cut: number;
  readonly lineStart: number;
  readonly edits: readonly Edit[];
}

/** More than this is never held back: the front of a longer line goes out, with enough kept to see a secret cut in two. */
const maxHeld = 16_384;
const overlap = 4_096;
const maxTags = 4_096;
const leastRoom = 8_192;
const mostRoom = 262_144;
const nothing = Buffer.alloc(0);

/**
 * Masks secrets in output that arrives in pieces, cut anywhere. A line is held until it ends (or the cursor moves
 * elsewhere, or `flush` says that nothing comes for now), so a secret cut in two, coloured, or wrapped is seen whole.
 * After a flush the line is remembered, and what completes a secret is still masked.
 */
export class StreamRedactor<T> {
  readonly #rules: Rules;
  readonly #joins: StreamOptions<T>['joins'];
  #cols: number;
  /** Everything since the start of the line that is being held, also what is out already. Whole characters; in `#room`. */
  #raw: Buffer = nothing;
  #room: Buffer = nothing;
  /** The beginning of a character. */
  #unfinished: Buffer = nothing;
  /** How much of `#raw` is out. */
  #sent = 0;
  /** Where in `#raw` each push ended. */
  #tags: { end: number; readonly empty: boolean; readonly tag: T }[] = [];
  /** Start of the mask that the sent part ends with. */
  #openMask: number | undefined;
  #count = 0;

  constructor(rules: Rules, options: StreamOptions<T> = {}) {
    this.#rules = rules;
    this.#cols = options.cols ?? 0;
    this.#joins = options.joins;
  }

  /** Masks put in so far. */
  get count(): number {
    return this.#count;
  }

  /** What was pushed and is not out yet, less an unfinished character. */
  get heldText(): string {
    return this.#raw.toString('utf8', this.#sent);
  }

  /** It remembers nothing: a new stream that is given the rest would mask it the same way. */
  get isFresh(): boolean {
    return this.#raw.length === 0 && this.#unfinished.length === 0 && this.#tags.length === 0;
  }

  /** Bytes that wait. */
  get held(): number {
    return this.#raw.length - this.#sent + this.#unfinished.length;
  }

  resize(cols: number): void {
    this.#cols = cols;
  }

  /** Whatever is safe to show now. Empty output keeps its place: its piece comes out in order, empty. */
  push(output: string | Uint8Array, tag: T): RedactedPiece<T>[] {
    const bytes = typeof output === 'string' ? Buffer.from(output) : this.#whole(output);
    if (output.length > 0 && bytes.length === 0) return [];
    this.#append(bytes);
    const last = this.#tags.at(-1);
    if (last?.empty === false && bytes.length > 0 && this.#joins?.(last.tag, tag, bytes.length) === true) {
      last.end = this.#raw.length;
    } else this.#tags.push({ end: this.#raw.length, empty: bytes.length === 0, tag });
    const held = this.#raw.length - this.#sent;
    const full = held > maxHeld || this.#tags.length > maxTags;
    const mayEnd = bytes.length === 0 ? held === 0 : endsLine(bytes);
    if (!full && !mayEnd) return [];
    const pieces = this.#release('lines');
    const stillFull = this.#raw.length - this.#sent > maxHeld || this.#tags.length > maxTags;
    return stillFull ? [...pieces, ...this.#release('overflow')] : pieces;
  }

  /** Call when output pauses: shows what is held, all but an unfinished character or control sequence. */
  flush(): RedactedPiece<T>[] {
    return this.#release('flush');
  }

  /** Shows everything; the stream is over. */
  end(): RedactedPiece<T>[] {
    if (this.#unfinished.length > 0) {
      const last = this.#tags.at(-1);
      this.#append(Buffer.from(this.#unfinished.toString()));
      this.#unfinished = nothing;
      if (last !== undefined) last.end = this.#raw.length;
    }
    return this.#release('end');
  }

  /** Whole characters; what is no text at all becomes U+FFFD. */
  #whole(output: Uint8Array): Buffer {
    const { buffer, byteOffset, length } = output;
    const view = Buffer.from(buffer, byteOffset, length);
    const all = this.#unfinished.length === 0 ? view : Buffer.concat([this.#unfinished, view]);
    const end = all.length - incompleteTail(all);
    this.#unfinished = end === all.length ? nothing : Buffer.from(all.subarray(end));
    const whole = all.subarray(0, end);
    return isUtf8(whole) ? whole : Buffer.from(whole.toString());
  }

  /** Copies it: the buffer that output comes in may be used again. */
  #append(bytes: Buffer): void {
    const [before, all] = [this.#raw.length, this.#raw.length + bytes.length];
    if (all > this.#room.length) {
      const room = Buffer.allocUnsafe(Math.max(leastRoom, 2 * all));
      this.#raw.copy(room);
      this.#room = room;
    }
    bytes.copy(this.#room, before);
    this.#raw = this.#room.subarray(0, all);
  }

  #release(until: 'lines' | 'overflow' | 'flush' | 'end'): RedactedPiece<T>[] {
    if (this.#tags.length === 0) return [];
    const plan = until === 'lines' ? this.#planLines() : this.#planAll(until);
    const cut = Math.max(plan.cut, this.#sent);
    if (until === 'lines' && cut === this.#sent && this.#raw.length > this.#sent) return [];
    const pieces = this.#pieces(plan.edits, cut);
    this.#forget(cut, plan.lineStart);
    return pieces;
  }

  /** Whole lines. Only those are read that may hold a secret. */
  #planLines(): Plan {
    const raw = this.#raw;
    let cut = lastHardBreak(raw, this.#cols);
    const { triggers } = this.#rules;
    const edits: Edit[] = [];
    let at = 0;
    while (at < cut) {
      const trigger = triggers === undefined ? at : findTrigger(raw, at, cut, this.#cols, triggers);
      if (trigger < 0) break;
      let [start, end] = triggers === undefined ? [at, cut] : lineAround(raw, trigger, at, cut, this.#cols);
      let text = raw.toString('utf8', start, end);
      // The lines of a key follow.
      if (text.includes('-----BEGIN')) [end, text] = [cut, raw.toString('utf8', start, cut)];
      const visible = visibleText(text, this.#cols, true);
      const open = privateKeys(visible.text).openFrom;
      edits.push(...this.#edits(text, visible, start));
      if (open !== undefined) cut = start + byteLength(text, 0, visible.rawAt(open));
      at = end;
    }
    return { cut, lineStart: cut, edits };
  }

  /** Everything there is, read as one. */
  #planAll(until: 'overflow' | 'flush' | 'end'): Plan {
    const text = this.#raw.toString();
    const visible = visibleText(text, this.#cols, until === 'end');
    const open = privateKeys(visible.text).openFrom;
    const edits = this.#edits(text, visible, 0);
    const lineStart = byteLength(text, 0, visible.lineStart);
    const openAt = open === undefined ? lineStart : Math.min(lineStart, byteLength(text, 0, visible.rawAt(open)));
    let cut = until === 'end' ? this.#raw.length : byteLength(text, 0, visible.tail);
    if (until === 'overflow') cut = this.#overflowCut(text, visible, edits);
    return { cut, lineStart: openAt, edits };
  }

  /** A place short of the end, between characters and outside any secret. */
  #overflowCut(text: string, visible: VisibleText, edits: readonly Edit[]): number {
    const target = text.length - overlap;
    let [low, high] = [0, visible.text.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (visible.rawAt(middle) <= target) low = middle + 1;
      else high = middle;
    }
    let place = low === 0 ? 0 : visible.rawAt(low - 1);
    if (isLowSurrogate(text.charCodeAt(place))) place--;
    const cut = byteLength(text, 0, place);
    const across = edits.find((edit) => edit.start < cut && cut < edit.end);
    const chosen = across === undefined ? cut : across.start > this.#sent ? across.start : across.end;
    // One sequence longer than all that may be held: let it go.
    return chosen > this.#sent ? chosen : this.#raw.length;
  }

  /** What to mask in a stretch of the raw output that begins at `base`. Sorted. */
  #edits(text: string, visible: VisibleText, base: number): Edit[] {
    const found: Edit[] = [];
    for (const span of this.#rules.spans(visible.text)) {
      const start = visible.rawAt(span.start);
      const end = visible.rawAt(span.end - 1) + 1;
      const secret = visible.text.slice(span.start, span.end);
      found.push({ start, end, text: this.#rules.mask(secret) + controlsIn(text.slice(start, end), secret) });
    }
    for (const { start, end } of visible.strings) found.push(...this.#editsInString(text, start, end));
    found.sort((a, b) => a.start - b.start);
    let [chars, bytes] = [0, base];
    const place = (index: number): number => {
      bytes += byteLength(text, chars, index);
      chars = index;
      return bytes;
    };
    return found
      .filter(notInside())
      .map((edit) => ({ start: place(edit.start), end: place(edit.end), text: edit.text }));
  }

  /** Titles, reported command lines and clipboard contents are text too. */
  #editsInString(text: string, start: number, end: number): Edit[] {
    const from = start + 2;
    const payload = text.slice(from, end);
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
        if (edit.start > at) text += decoded(this.#raw, at, edit.start);
        if (!shown) {
          text += edit.text;
          this.#count++;
        }
        at = Math.min(edit.end, cut);
        openMask = edit.end >= cut ? edit.start : undefined;
      }
      if (at < end) {
        text += decoded(this.#raw, at, end);
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
    const keepFrom = Math.max(Math.min(cut, lineStart), wholeCharacter(this.#raw, cut - overlap));
    const openMask = this.#openMask;
    this.#tags = this.#tags.filter((entry) => entry.end > cut);
    for (const entry of this.#tags) entry.end -= keepFrom;
    this.#room.copyWithin(0, keepFrom, this.#raw.length);
    this.#raw = this.#room.subarray(0, this.#raw.length - keepFrom);
    // One long push must not cost memory for ever.
    if (this.#room.length > mostRoom) this.#room = Buffer.from(this.#raw);
    this.#sent = cut - keepFrom;
    this.#openMask = openMask === undefined || openMask < keepFrom ? undefined : openMask - keepFrom;
  }
}

const endsLine = (bytes: Buffer): boolean => bytes.includes(0x0a) || bytes.includes(0x0d) || bytes.includes(esc);

/** Bytes of a stretch of text. */
function byteLength(text: string, from: number, to: number): number {
  return Buffer.byteLength(from === 0 && to === text.length ? text : text.slice(from, to));
}

/** The first place from here on at which a character begins. */
function wholeCharacter(bytes: Buffer, from: number): number {
  let at = Math.max(0, from);
  while (at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80) at++;
  return at;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Lets no edit through that begins inside an earlier one. */
function notInside(): (edit: Edit) => boolean {
  let end = 0;
  return (edit) => {
    if (edit.start < end) return false;
    end = edit.end;
    return true;
  };
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
