import type { Terminal } from '../../terminal/terminal.ts';
import { type Clipped, countNewlines, type TextGap, headEnd, lineStart } from '../clip.ts';
import { load, type SourceText } from './load.ts';
import { largest, type Room } from './room.ts';
import { decodeRest, encodeRest, type Rest, type Source } from './source.ts';

/** A part of a text that is no longer kept, by its place in the whole. */
export interface NotKept {
  readonly lines: number;
  readonly bytes: number;
  readonly fromLine: number;
  readonly toLine: number;
}

type Loaded = Omit<SourceText, 'flags'>;

export function notKept({ text, gap }: Pick<Loaded, 'text' | 'gap'>): NotKept | undefined {
  if (!gap) return undefined;
  const fromLine = countNewlines(text.slice(0, gap.at)) + 1;
  const toLine = fromLine + gap.newlines - (gap.wholeLine ? 1 : 0);
  return { lines: gap.newlines, bytes: gap.bytes, fromLine, toLine };
}

/** Handle to what a cut text left out; undefined when nothing of that is kept. */
export function restOf(terminal: Terminal, source: Source, loaded: Loaded, clipped: Clipped): string | undefined {
  const { restStart, restEnd, restFrom } = clipped;
  if (restStart === restEnd) return undefined;
  const at = positionOf(loaded, restStart, restStart > 0);
  const end = loaded.totals.bytes - Buffer.byteLength(loaded.text.slice(restEnd));
  return encodeRest(terminal, { source, at, end, line: restFrom, totals: loaded.totals });
}

/** The next piece of what an earlier answer left out; with `line`, from that line on. */
export async function page(
  terminal: Terminal,
  request: { readonly rest: string; readonly line?: number | undefined },
  room: Room,
  signal: AbortSignal,
) {
  const place = decodeRest(terminal, request.rest);
  const loaded = await load(terminal, place.source, signal, place.totals);
  const { text, flags, gap, totals } = loaded;
  const start = startOf(loaded, place, request.line);
  const end = indexOf(loaded, place.end).index;
  // A page ends at a gap.
  const limit = gap && start.index < gap.at ? Math.min(gap.at, end) : end;
  const to = largest(
    room,
    (maxBytes) => Math.max(start.index, Math.min(limit, headEnd(text, start.index, maxBytes))),
    (end) => text.slice(start.index, end),
  );
  const shown = text.slice(start.index, to);
  const fromLine = lineOf(loaded, start.index);
  const line = fromLine + countNewlines(shown);
  const toLine = shown.endsWith('\n') ? line - 1 : line;
  const at = positionOf(loaded, to, start.index < to);
  const gone = start.goneBytes > 0 && gap ? goneBefore(start, fromLine, gap) : undefined;
  return {
    text: shown,
    totalLines: totals.lines,
    totalBytes: totals.bytes,
    flags,
    page: { fromLine, toLine },
    ...(gone ? { lost: true, notKept: gone } : {}),
    ...(to < end ? { rest: encodeRest(terminal, { ...place, at, line }) } : {}),
  };
}

interface Start {
  readonly index: number;
  /** Bytes at the start of the page that are gone. */
  readonly goneBytes: number;
  readonly line: number;
}

function startOf(loaded: Loaded, { at, line }: Rest, wanted: number | undefined): Start {
  const first = { ...indexOf(loaded, at), line };
  if (wanted === undefined || wanted <= line) return first;
  const { text, gap } = loaded;
  const gapAt = gap?.at ?? 0;
  const inHead = lineStart(text.slice(0, gapAt), wanted);
  if (inHead < gapAt) return { index: Math.max(first.index, inHead), goneBytes: 0, line: wanted };
  const firstAfter = lineOf(loaded, gapAt);
  if (wanted < firstAfter)
    return first.index < gapAt
      ? { index: gapAt, goneBytes: gap?.bytes ?? 0, line: lineOf(loaded, gapAt - 1) + 1 }
      : first;
  const index = gapAt + lineStart(text.slice(gapAt), wanted - firstAfter + 1);
  return { index: Math.max(first.index, index), goneBytes: 0, line: wanted };
}

const goneBefore = ({ goneBytes, line }: Start, fromLine: number, { wholeLine }: TextGap): NotKept => ({
  lines: fromLine - line,
  bytes: goneBytes,
  fromLine: line,
  toLine: fromLine - (wholeLine ? 1 : 0),
});

/** Where in the text at hand a byte of the whole text is. */
function indexOf({ text, gap }: Loaded, position: number): { readonly index: number; readonly goneBytes: number } {
  if (!gap) return { index: afterBytes(text, position), goneBytes: 0 };
  const before = Buffer.byteLength(text.slice(0, gap.at));
  if (position < before) return { index: afterBytes(text, position), goneBytes: 0 };
  const goneBytes = Math.max(0, before + gap.bytes - position);
  return { index: goneBytes > 0 ? gap.at : afterBytes(text, position - gap.bytes), goneBytes };
}

/** The other way round. Where the gap is: after it, or `before` it. */
function positionOf({ text, gap }: Loaded, index: number, before = false): number {
  const bytes = Buffer.byteLength(text.slice(0, index));
  return !gap || index < gap.at || (index === gap.at && before) ? bytes : bytes + gap.bytes;
}

function lineOf({ text, gap, totals }: Loaded, index: number): number {
  if (gap && index < gap.at) return countNewlines(text.slice(0, index)) + 1;
  return totals.lines - countNewlines(text.slice(index));
}

function afterBytes(text: string, bytes: number): number {
  const all = Buffer.from(text);
  return all.length === text.length ? bytes : all.toString('utf8', 0, bytes).length;
}
