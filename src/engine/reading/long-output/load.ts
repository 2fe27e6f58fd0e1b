import { FairleadError } from '../../../contract/errors.ts';
import { isContinuation } from '../../../lib/utf8.ts';
import { addFlags, plainText, type TextFlags } from '../../../lib/plain-text.ts';
import { transcribe } from '../../screen/transcript.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type Pause, pauses } from '../../../system/turns.ts';
import { countLines, countNewlines, type TextGap } from '../clip.ts';
import type { Totals } from './counted-text.ts';
import { overflowFrom } from './overflow.ts';
import { pictureText } from '../../screen/screen-history.ts';
import { type LogSource, longestLine, type Source } from './source.ts';

export interface SourceText {
  /** As much of the whole text as is kept. */
  readonly text: string;
  readonly flags: TextFlags;
  /** Of the whole text. */
  readonly totals: Totals;
  /** Where something of it is no longer kept. */
  readonly gap?: TextGap | undefined;
}

interface Kept {
  /** The beginning of the output, put aside before the log dropped it. */
  readonly head: Uint8Array;
  /** What the log still has. */
  readonly tail: Uint8Array;
  /** `tail` begins with a line. */
  readonly wholeLine: boolean;
}

/**
 * The text of a source. `known`: its totals when all of it was kept. Throws if nothing of it is kept, or if an unknown
 * part of it is gone.
 */
export async function load(
  terminal: Terminal,
  source: Source,
  signal: AbortSignal,
  known?: Totals,
): Promise<SourceText> {
  if (source.kind === 'picture') {
    const picture = terminal.screen.history.find(source.id);
    if (!picture) throw noLongerKept();
    const text = pictureText(picture);
    return { text, flags: picture.flags, totals: totalsOf(text) };
  }
  const pause = pauses(signal);
  const counted = await overflowFrom(terminal, source.from)?.count(source.to, pause);
  const totals = counted ?? known;
  const isWhole = source.from >= terminal.log.start || source.from === source.to;
  const kept = isWhole
    ? { head: nothing, tail: terminal.log.read(source.from, source.to).bytes, wholeLine: true }
    : keptOf(terminal, { ...source, to: counted?.to ?? source.to }, counted?.head ?? nothing);
  if (!isWhole && (totals === undefined || kept.head.length + kept.tail.length === 0)) throw noLongerKept();
  return await textOf(kept, source, totals, pause);
}

function keptOf({ log }: Terminal, { from, to }: LogSource, head: Uint8Array): Kept {
  const headEnd = from + head.length;
  if (headEnd >= log.start && head.length > 0) return { head, tail: log.read(headEnd, to).bytes, wholeLine: true };
  const { bytes } = log.read(log.start, to);
  const newline = bytes.subarray(0, longestLine).indexOf(0x0a);
  let start = newline + 1;
  while (newline < 0 && start < 4 && isContinuation(bytes[start] ?? 0)) start++;
  return { head, tail: bytes.subarray(start), wholeLine: newline >= 0 };
}

async function textOf(
  { head, tail, wholeLine }: Kept,
  { size, alternate }: LogSource,
  known: Totals | undefined,
  pause: Pause,
): Promise<SourceText> {
  const first = await transcribe(head, { size, pause });
  const last = await transcribe(alternate ? Buffer.concat([alternateOn, tail]) : tail, { size, pause });
  const ended = head.at(-1) === 0x0a && first.text !== '' ? '\n' : '';
  const before = plainText(`${first.text}${ended}`, { separator: ' ' });
  const after = plainText(last.text, { separator: ' ' });
  const hidden = first.hidden + last.hidden;
  const flags = addFlags(before.flags, after.flags, hidden > 0 ? { hidden } : {});
  const text = before.text + after.text;
  const own = totalsOf(text);
  const totals = known ?? { lines: own.lines + last.droppedLines, bytes: own.bytes + last.droppedBytes };
  const bytes = Math.max(0, totals.bytes - own.bytes);
  if (bytes === 0) return { text, flags, totals };
  const newlines = Math.max(0, totals.lines - 1 - countNewlines(text));
  return { text, flags, totals, gap: { at: before.text.length, newlines, bytes, wholeLine } };
}

const totalsOf = (text: string): Totals => ({ lines: countLines(text), bytes: Buffer.byteLength(text) });

const nothing = new Uint8Array();
const alternateOn = Buffer.from('\x1b[?1049h');

function noLongerKept(): FairleadError {
  return new FairleadError('not_found', 'That part of the output is no longer kept.', {
    hint: 'Read the terminal again; run the command again with its output in a file if all of it is needed.',
  });
}
