import { FairleadError } from '../../contract/errors.ts';
import { pauses } from '../../system/turns.ts';
import { addFlags, plainText, type TextFlags } from '../../lib/plain-text.ts';
import type { Readable } from '../screen/older/older-rows.ts';
import type { RowText } from '../screen/rows.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { compilePattern } from '../waiting/pattern.ts';
import { upTo } from './clip.ts';
import { refuseOldRows } from './epoch.ts';

export interface FindRequest {
  readonly pattern: string;
  /** RE2 syntax; otherwise the pattern is literal. */
  readonly regex?: boolean | undefined;
  readonly ignoreCase?: boolean | undefined;
  /** `all` includes the scrollback. */
  readonly scope?: 'screen' | 'all' | undefined;
  /** How many matches are shown; all are counted. */
  readonly max?: number | undefined;
  /** Limit of what is shown, in characters or in what `sizeOf` counts. The first match is always shown. */
  readonly maxSize?: number | undefined;
  readonly sizeOf?: ((match: FoundMatch) => number) | undefined;
  /** Lines shown before and after each. */
  readonly context?: number | undefined;
  /** Absolute row to begin with: `next` of an earlier answer. */
  readonly from?: number | undefined;
  /** Characters of that row's line to leave out: `nextCol` of an earlier answer. */
  readonly fromCol?: number | undefined;
  /** Epoch of `from`: refused if rows were renumbered since. */
  readonly epoch?: number | undefined;
}

export interface FoundMatch {
  /** Absolute rows it begins and ends in: a long line takes several. */
  readonly row: number;
  readonly endRow: number;
  /** Where in its row it begins, in characters. */
  readonly col: number;
  readonly match: string;
  /** The line around it; lines that were wrapped are one. */
  readonly line: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

interface FindAnswer {
  readonly matches: readonly FoundMatch[];
  /** Of all matches from `from` and `fromCol` on, shown or not. */
  readonly total: number;
  readonly linesSearched: number;
  /** Row numbers of another epoch are not comparable with these. */
  readonly epoch: number;
  /** Absolute rows of the top of the screen and of the first row kept. */
  readonly screenTop: number;
  readonly firstRow: number;
  readonly altScreen: boolean;
  readonly flags: TextFlags;
  /** Where to go on for the matches not shown: the row, and how far into its line where that was begun. */
  readonly next?: number;
  readonly nextCol?: number;
  /** The search ran out of time; `total` counts the matches so far. */
  readonly incomplete?: boolean;
}

/** The most matches one answer holds; each takes at most about 2 KiB without context. */
const mostMatches = 10_000;
const mostContext = 20;
/** Time limit: a pattern may scan to the end of a line for each of a million matches in it. */
const longestMs = 2000;
/** Bytes of each line shown, and characters of all of them. */
const longestShown = 500;
const largestAnswer = 64 << 10;

/** Searches what the terminal shows and, with `all`, what scrolled out. Time is linear in the text for every pattern. */
export async function findInTerminal(
  terminal: Terminal,
  request: FindRequest,
  signal: AbortSignal,
): Promise<FindAnswer> {
  if (request.pattern === '') {
    throw new FairleadError('invalid_input', 'The pattern is empty.', { hint: 'Give a pattern.' });
  }
  const search = searcher(request);
  await terminal.sync(signal);
  refuseOldRows(terminal, request.epoch);
  const { alternate } = terminal.screen.facts;
  const { rows, first, viewportTop, epoch } = await searched(terminal, request, signal);
  const { lines, flags } = linesOf(rows(request.from));
  const { from, fromCol = 0, maxSize = largestAnswer } = request;
  const max = Math.min(mostMatches, Math.max(1, request.max ?? 20));
  const context = Math.min(mostContext, Math.max(0, request.context ?? 0));
  const pause = pauses(signal);
  const deadline = terminal.clock.monotonic() + longestMs;
  const matches: FoundMatch[] = [];
  let total = 0;
  let size = 0;
  let next: Pick<FindAnswer, 'next' | 'nextCol'> | undefined;
  let incomplete = false;
  for (const [index, line] of lines.entries()) {
    const start = line.row === from ? fromCol : 0;
    for (const { at, text } of search(line.text)) {
      await pause();
      incomplete = terminal.clock.monotonic() > deadline;
      if (incomplete) break;
      if (at < start) continue;
      total++;
      if (next !== undefined) continue;
      const match = show(lines, index, at, text, context);
      size += (request.sizeOf ?? sizeOf)(match);
      if (matches.length < max && (matches.length === 0 || size <= maxSize)) matches.push(match);
      else next = { next: line.row, ...(at > 0 ? { nextCol: at } : {}) };
    }
    await pause();
    if (incomplete) break;
  }
  return {
    matches,
    total,
    linesSearched: lines.length,
    epoch,
    screenTop: viewportTop,
    firstRow: first,
    altScreen: alternate,
    flags,
    ...next,
    ...(incomplete ? { incomplete } : {}),
  };
}

async function searched(terminal: Terminal, { scope }: FindRequest, signal: AbortSignal): Promise<Readable> {
  const { screen } = terminal;
  const { epoch, viewportTop } = screen.facts;
  if (scope !== 'screen') return await terminal.feed.older.read({ marks: true }, signal);
  const rows: Readable['rows'] = (from = 0) => screen.markedRows(Math.max(from, viewportTop));
  return { rows, first: viewportTop, viewportTop, epoch };
}

interface Logical {
  readonly row: number;
  /** Where in the text each of its rows begins. */
  readonly starts: number[];
  text: string;
}

function linesOf(rows: readonly RowText[]): { readonly lines: Logical[]; readonly flags: TextFlags } {
  const lines: Logical[] = [];
  let flags: TextFlags = {};
  for (const { row, text, wrapped, hidden = 0 } of rows) {
    const plain = plainText(text, { separator: ' ' });
    flags = addFlags(flags, plain.flags, hidden > 0 ? { hidden } : {});
    const last = lines.at(-1);
    if (wrapped && last) {
      last.starts.push(last.text.length);
      last.text += plain.text;
    } else lines.push({ row, starts: [0], text: plain.text });
  }
  while (lines.at(-1)?.text.trim() === '') lines.pop();
  return { lines, flags };
}

interface Hit {
  readonly at: number;
  readonly text: string;
}

/** Finds matches in a line. An empty match counts once, and only in a line without others. */
function searcher({ pattern, regex = false, ignoreCase = false }: FindRequest): (line: string) => Iterable<Hit> {
  if (!regex && !ignoreCase) {
    return function* (line) {
      for (let at = line.indexOf(pattern); at !== -1; at = line.indexOf(pattern, at + pattern.length)) {
        yield { at, text: pattern };
      }
    };
  }
  const source = regex ? pattern : pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const compiled = compilePattern(source, ignoreCase ? 'i' : '');
  return function* (line) {
    let empty: Hit | undefined;
    let found = false;
    for (let hit = compiled.exec(line); hit; ) {
      if (hit.text === '') empty ??= { at: hit.index, text: '' };
      else yield { at: hit.index, text: hit.text };
      found ||= hit.text !== '';
      const from: number = hit.index + Math.max(1, hit.text.length);
      hit = from <= line.length ? compiled.exec(line, from) : undefined;
    }
    if (empty && !found) yield empty;
  };
}

function show(lines: readonly Logical[], index: number, at: number, match: string, context: number): FoundMatch {
  const line = lines[index] as Logical;
  const part = (i: number): string => upTo((lines[i] as Logical).text, longestShown);
  const rowAt = (place: number): number => line.row + line.starts.findLastIndex((start) => start <= place);
  const start = line.starts.findLast((one) => one <= at) ?? 0;
  return {
    row: rowAt(at),
    col: at - start,
    endRow: rowAt(at + Math.max(0, match.length - 1)),
    match: upTo(match, longestShown),
    line: around(line.text, at),
    before: range(Math.max(0, index - context), index).map(part),
    after: range(index + 1, Math.min(lines.length, index + 1 + context)).map(part),
  };
}

function around(line: string, at: number): string {
  if (line.length <= longestShown) return line;
  const start = Math.max(0, at - longestShown / 4);
  const isHalf = (line.charCodeAt(start) & 0xfc00) === 0xdc00;
  return upTo(line.slice(isHalf ? start + 1 : start, start + longestShown + 1), longestShown);
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);

function sizeOf({ line, match, before, after }: FoundMatch): number {
  return [line, match, ...before, ...after].reduce((sum, text) => sum + text.length, 64);
}
