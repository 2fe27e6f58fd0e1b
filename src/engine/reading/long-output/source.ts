import { FairleadError } from '../../../contract/errors.ts';
import type { Size } from '../../terminal/channel.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Totals } from './counted-text.ts';
import { bind, unbind } from '../handle.ts';

/** Where a text comes from, precisely enough to make it again: a later page needs only these numbers. */
export type Source = LogSource | { readonly kind: 'picture'; readonly id: number };

export interface LogSource {
  readonly kind: 'log';
  readonly from: number;
  readonly to: number;
  readonly size: Size;
  /** The alternate screen was on at `from`. */
  readonly alternate: boolean;
}

/** A place in the text of a source: what lies between `at` and `end` was left out of an answer. */
export interface Rest {
  readonly source: Source;
  /** Bytes of the whole text, in UTF-8, before the place and up to its end. */
  readonly at: number;
  readonly end: number;
  /** The line that `at` lies in, counted from 1. */
  readonly line: number;
  readonly totals: Totals;
}

/**
 * The output from an offset on, beginning with a whole line: the one the offset lies in, or, when that is not kept any
 * more, the first kept one. Half an escape sequence would be read as text.
 */
export function wholeLines(terminal: Terminal, from: number, to: number): { from: number; missed: number } {
  const { log } = terminal;
  if (from < log.start) {
    const { bytes } = log.read(log.start, to, longestLine);
    const start = log.start + bytes.indexOf(0x0a) + 1;
    return { from: start, missed: start - from };
  }
  const back = log.read(Math.max(log.start, from - longestLine), from);
  const start = back.from + back.bytes.lastIndexOf(0x0a) + 1;
  return { from: start === back.from && back.from > 0 ? from : start, missed: 0 };
}

export const longestLine = 64 << 10;

export function encodeRest(terminal: Terminal, { source, at, end, line, totals }: Rest): string {
  const where = source.kind === 'log' ? [source.from, source.to, source.size.cols, source.size.rows] : [source.id];
  const numbers = [...where, at, end, line, totals.lines, totals.bytes];
  const kind = source.kind === 'picture' ? 'p' : source.alternate ? 'a' : 'o';
  return bind(terminal, `${kind}${numbers.map((number) => number.toString(36)).join('.')}`);
}

export function decodeRest(terminal: Terminal, text: string): Rest {
  const match = /^([poa])((?:[0-9a-z]{1,11}\.){5,8}[0-9a-z]{1,11})$/.exec(unbind(terminal, text) ?? '');
  const numbers = (match?.[2] ?? '').split('.').map((part) => Number.parseInt(part, 36));
  const [at = 0, end = 0, line = 0, lines = 0, bytes = 0] = numbers.slice(-5);
  const place = { at, end, line, totals: { lines, bytes } };
  const [from = 0, to = 0, cols = 0, rows = 0] = numbers;
  if (match?.[1] === 'p' && numbers.length === 6) return { source: { kind: 'picture', id: from }, ...place };
  const fits = cols >= 2 && cols <= 1000 && rows >= 1 && rows <= 1000;
  if (match === null || match[1] === 'p' || numbers.length !== 9 || !fits) {
    throw new FairleadError('invalid_input', `"${text.slice(0, 60)}" is not a handle to the rest of an answer.`, {
      hint: 'Pass the rest of an earlier answer for the same terminal.',
    });
  }
  return { source: { kind: 'log', from, to, size: { cols, rows }, alternate: match[1] === 'a' }, ...place };
}
