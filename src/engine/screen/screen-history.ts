import { addFlags, plainText, type TextFlags } from '../../lib/plain-text.ts';
import type { Screen } from './screen.ts';

/** What the screen showed at some moment, as text: the base of a later diff. */
export interface ScreenText {
  /** Counts from 1 within its terminal. */
  readonly id: number;
  readonly epoch: number;
  readonly alternate: boolean;
  readonly cols: number;
  /** Absolute number of the first row. */
  readonly top: number;
  readonly rows: readonly string[];
  readonly flags: TextFlags;
}

/** A screenful of text is a few kilobytes. */
const mostPerReader = 8;
const mostReaders = 16;

/** Earlier pictures of one screen, kept per reader: a busy reader drops only its own. */
export class ScreenHistory {
  /** The reader that took a picture last comes last. */
  readonly #readers = new Map<string, ScreenText[]>();
  #last: ScreenText | undefined;

  /** Takes a picture of the screen as it is now. A screen that has not changed since keeps its picture. */
  take(screen: Screen, reader: string): ScreenText {
    const shown = showing(screen);
    const picture = this.#last && isSame(this.#last, shown) ? this.#last : { id: (this.#last?.id ?? 0) + 1, ...shown };
    this.#last = picture;
    const own = this.#readers.get(reader) ?? [];
    if (own.at(-1) !== picture) own.push(picture);
    if (own.length > mostPerReader) own.shift();
    this.#readers.delete(reader);
    this.#readers.set(reader, own);
    const [oldest] = this.#readers.keys();
    if (this.#readers.size > mostReaders && oldest !== undefined) this.#readers.delete(oldest);
    return picture;
  }

  /** A picture any reader still has: a cursor may be handed on. */
  find(id: number): ScreenText | undefined {
    for (const pictures of this.#readers.values()) {
      const found = pictures.find((picture) => picture.id === id);
      if (found) return found;
    }
    return undefined;
  }
}

function showing(screen: Screen): Shown {
  const { viewportTop: top, alternate, epoch } = screen.facts;
  let flags: TextFlags = {};
  const rows = screen.markedRows(top).map(({ text, hidden = 0 }) => {
    const plain = plainText(text.trimEnd(), { separator: ' ' });
    flags = addFlags(flags, plain.flags, hidden > 0 ? { hidden } : {});
    return plain.text;
  });
  return { epoch, alternate, cols: screen.size.cols, top, rows, flags };
}

type Shown = Omit<ScreenText, 'id'>;

function isSame(one: Shown, other: Shown): boolean {
  return (
    comparable(one, other) &&
    one.top === other.top &&
    one.rows.join('\n') === other.rows.join('\n') &&
    JSON.stringify(one.flags) === JSON.stringify(other.flags)
  );
}

/** Row numbers mean the same in both. */
export function comparable(one: Shown, other: Shown): boolean {
  return one.epoch === other.epoch && one.alternate === other.alternate && one.cols === other.cols;
}

/** All of it, without the blank rows at its end. */
export function pictureText({ rows }: ScreenText): string {
  const last = rows.findLastIndex((row) => row !== '');
  return rows.slice(0, last + 1).join('\n');
}

export interface ChangedRow {
  /** Row of the screen, from 0 at its top. */
  readonly row: number;
  readonly text: string;
}

/** Rows of `now` that `before` did not have at the same absolute place. */
export function changedRows(before: ScreenText, now: ScreenText): ChangedRow[] {
  return now.rows
    .map((text, row) => ({ row, text }))
    .filter(({ row, text }) => text !== (before.rows[now.top + row - before.top] ?? ''));
}
