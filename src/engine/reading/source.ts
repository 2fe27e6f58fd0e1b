import { FairleadError } from '../../contract/errors.ts';
import type { Size } from '../channel.ts';
import { pauses } from '../turns.ts';
import { plainText, type TextFlags, addFlags } from '../plain-text.ts';
import { transcribe } from '../screen/transcript.ts';
import type { Terminal } from '../terminal.ts';
import { bind, unbind } from './handle.ts';
import { findPicture, pictureText } from './pictures.ts';

/** Where a text comes from, so exactly that it can be made again: nothing but these numbers is kept for a later page. */
export type Source =
  | {
      readonly kind: 'log';
      readonly from: number;
      readonly to: number;
      readonly size: Size;
      /** The alternate screen was on at `from`. */
      readonly alternate: boolean;
    }
  | { readonly kind: 'picture'; readonly id: number };

export interface SourceText {
  readonly text: string;
  readonly flags: TextFlags;
  /** Lines before the text that there was no room for. */
  readonly droppedLines: number;
  readonly droppedBytes: number;
}

/** A place in the text of a source: what lies between `at` and `end` was left out of an answer. */
export interface Rest {
  readonly source: Source;
  readonly at: number;
  readonly end: number;
}

export async function load(terminal: Terminal, source: Source, signal: AbortSignal): Promise<SourceText> {
  if (source.kind === 'picture') {
    const picture = findPicture(terminal, source.id);
    if (!picture) throw noLongerKept();
    return { text: pictureText(picture), flags: picture.flags, droppedLines: 0, droppedBytes: 0 };
  }
  if (source.from < terminal.log.start && source.to > source.from) throw noLongerKept();
  const { bytes } = terminal.log.read(source.from, source.to);
  const whole = source.alternate ? Buffer.concat([alternateOn, bytes]) : bytes;
  const { text, hidden, droppedLines, droppedBytes } = await transcribe(whole, {
    size: source.size,
    pause: pauses(signal),
  });
  const plain = plainText(text, { separator: ' ' });
  const flags = hidden > 0 ? addFlags(plain.flags, { hidden }) : plain.flags;
  return { text: plain.text, flags, droppedLines, droppedBytes };
}

const alternateOn = Buffer.from('\x1b[?1049h');

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

const longestLine = 64 << 10;

export function encodeRest(terminal: Terminal, { source, at, end }: Rest): string {
  const numbers =
    source.kind === 'log'
      ? [source.from, source.to, source.size.cols, source.size.rows, at, end]
      : [source.id, at, end];
  const kind = source.kind === 'picture' ? 'p' : source.alternate ? 'a' : 'o';
  return bind(terminal, `${kind}${numbers.map((number) => number.toString(36)).join('.')}`);
}

export function decodeRest(terminal: Terminal, text: string): Rest {
  const match = /^([poa])((?:[0-9a-z]{1,11}\.){2,5}[0-9a-z]{1,11})$/.exec(unbind(terminal, text) ?? '');
  const numbers = (match?.[2] ?? '').split('.').map((part) => Number.parseInt(part, 36));
  const [first = 0, second = 0, third = 0, fourth = 0, at = 0, end = 0] = numbers;
  if (match?.[1] === 'p' && numbers.length === 3) {
    return { source: { kind: 'picture', id: first }, at: second, end: third };
  }
  const fits = third >= 2 && third <= 1000 && fourth >= 1 && fourth <= 1000;
  if (match === null || match[1] === 'p' || numbers.length !== 6 || !fits) {
    throw new FairleadError('invalid_input', `"${text.slice(0, 60)}" is not a handle to the rest of an answer.`, {
      hint: 'Pass the rest of an earlier answer for the same terminal.',
    });
  }
  const size = { cols: third, rows: fourth };
  return { source: { kind: 'log', from: first, to: second, size, alternate: match[1] === 'a' }, at, end };
}

function noLongerKept(): FairleadError {
  return new FairleadError('not_found', 'That part of the output is no longer kept.', {
    hint: 'Read the terminal again; run the command again with its output in a file if all of it is needed.',
  });
}
