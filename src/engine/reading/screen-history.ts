import { addFlags, plainText, type TextFlags } from '../../lib/plain-text.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** What the screen showed at some moment, as text: to tell later what changed since. */
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

/** Kept per terminal; the oldest goes first. A screenful of text is a few kilobytes. */
const mostPictures = 8;
const kept = new WeakMap<Terminal, { nextId: number; readonly pictures: ScreenText[] }>();

/** Takes a picture of the screen as it is now, or finds that the newest one still fits. */
export function takePicture(terminal: Terminal): ScreenText {
  const { screen } = terminal;
  const { viewportTop: top, alternate, epoch } = screen.facts;
  let flags: TextFlags = {};
  const rows = screen.markedRows(top).map(({ text, hidden = 0 }) => {
    const plain = plainText(text.trimEnd(), { separator: ' ' });
    flags = addFlags(flags, plain.flags, hidden > 0 ? { hidden } : {});
    return plain.text;
  });
  const own = kept.get(terminal) ?? { nextId: 1, pictures: [] };
  kept.set(terminal, own);
  const last = own.pictures.at(-1);
  const { cols } = screen.size;
  if (last && isSame(last, { epoch, alternate, cols, top, rows, flags })) return last;
  const picture: ScreenText = { id: own.nextId++, epoch, alternate, cols, top, rows, flags };
  own.pictures.push(picture);
  if (own.pictures.length > mostPictures) own.pictures.shift();
  return picture;
}

export function findPicture(terminal: Terminal, id: number): ScreenText | undefined {
  return kept.get(terminal)?.pictures.find((picture) => picture.id === id);
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

/** Rows of the two can be told apart by their numbers. */
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
