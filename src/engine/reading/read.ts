import type { TextFlags } from '../../lib/plain-text.ts';
import { addFlags, plainText } from '../../lib/plain-text.ts';
import { answered } from '../waiting/answered.ts';
import type { Summary } from './summaries/index.ts';
import type { TerminalState } from '../terminal/organs/state.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Clipped } from './clip.ts';
import { clipAndSummarise } from './fit-output.ts';
import { encodeCursor } from './cursor.ts';
import { load, type SourceText } from './long-output/load.ts';
import { type NotKept, notKept, page, restOf } from './long-output/rest.ts';
import { answerBytes, type Room, roomBeside } from './long-output/room.ts';
import type { Source } from './long-output/source.ts';
import { type CommandFacts, type ViewedText, type ReadRequest, views } from './views.ts';

export type { ReadRequest, View } from './views.ts';

export interface ReadAnswer {
  readonly text: string;
  /** Lines of the whole text, and bytes of it in UTF-8. */
  readonly totalLines: number;
  readonly totalBytes: number;
  /** Where to read on, in any view. */
  readonly cursor: string;
  readonly state: TerminalState;
  /** Since the newest output. */
  readonly idleMs: number;
  readonly altScreen: boolean;
  readonly screen: { readonly cols: number; readonly rows: number; readonly title: string } & {
    readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  };
  readonly flags: TextFlags;
  readonly clipped?: OmittedText;
  /** Handle to what was left out. */
  readonly rest?: string;
  /** Part of the request is gone; the number of bytes, if known. */
  readonly lost?: boolean;
  readonly missedBytes?: number;
  /** The part of the whole text that is gone, where its place is known. */
  readonly notKept?: NotKept;
  readonly command?: CommandFacts;
  readonly diff?: NonNullable<ViewedText['facts']['diff']>;
  readonly summary?: Summary;
  /** Lines of the whole text this page of the rest has. */
  readonly page?: { readonly fromLine: number; readonly toLine: number };
}

interface OmittedText {
  readonly omittedLines: number;
  readonly omittedBytes: number;
  readonly fromLine: number;
  readonly toLine: number;
}

export const smallestMaxBytes = 1 << 10;
export const largestMaxBytes = 200_000;
const longestTitle = 200;
const noTotals = { lines: 0, bytes: 0 };

/** The text of a terminal as a model should get it: rendered, plain, and no more than asked for. */
export async function readTerminal(terminal: Terminal, request: ReadRequest, signal: AbortSignal): Promise<ReadAnswer> {
  const asked = request.maxBytes ?? answerBytes >> 1;
  const maxBytes = Math.min(largestMaxBytes, Math.max(smallestMaxBytes, asked));
  if (request.immediate !== true && request.rest === undefined) await answered(terminal, signal);
  await inStep(terminal, signal);
  // Nothing is awaited between here and the end of `common`: all of it is of one moment.
  const offset = terminal.feed.shownTo;
  const picture = terminal.screen.history.take(terminal.screen, request.reader ?? '');
  const found =
    request.rest === undefined ? views[request.view](terminal, request, { offset, picture, maxBytes }) : undefined;
  const common = facts(terminal, offset, picture.id);
  const { diff: _rows, ...told } = found?.facts ?? {};
  const room = request.maxBytes === undefined ? roomBeside({ ...common, ...told }) : { bytes: maxBytes };
  if (!found) return { ...common, ...(await page(terminal, { ...request, rest: request.rest ?? '' }, room, signal)) };
  const body = 'text' in found.body ? { ...found.body, totals: noTotals } : await load(terminal, found.body, signal);
  const source = 'text' in found.body ? found.body.source : found.body;
  return { ...common, ...found.facts, ...fit(terminal, body, source, room, found.facts) };
}

/** Brings the screen up to date, without waiting for a stream that never pauses. */
async function inStep(terminal: Terminal, signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < 3; tries++) {
    const offset = terminal.log.end;
    await terminal.sync(signal);
    if (terminal.log.end === offset) break;
  }
}

function facts(terminal: Terminal, offset: number, picture: number) {
  const { screen, clock } = terminal;
  const { epoch, viewportTop, cursor, alternate, title } = screen.facts;
  const { x, y, visible } = cursor;
  const since = terminal.usage.lastOutputMs;
  return {
    cursor: encodeCursor(terminal, { offset, epoch, row: viewportTop + y, picture, alternate }),
    state: terminal.state.current,
    idleMs: Math.round(since === undefined ? clock.now() - terminal.identity.createdAt : clock.monotonic() - since),
    altScreen: alternate,
    screen: {
      ...screen.size,
      title: plainText(title.slice(0, longestTitle), { separator: ' ' }).text,
      cursor: { x, y, visible },
    },
  };
}

function fit(
  terminal: Terminal,
  body: SourceText,
  source: Source | undefined,
  room: Room,
  { command, lost }: ViewedText['facts'],
) {
  const { summary, ...result } = clipAndSummarise(body, room, command ?? {});
  const totals = { lines: result.totalLines, bytes: result.totalBytes };
  const rest = result.clipped && source ? restOf(terminal, source, { ...body, totals }, result) : undefined;
  const gone = notKept(body);
  return {
    text: result.text,
    totalLines: result.totalLines,
    totalBytes: result.totalBytes,
    flags: addFlags(body.flags),
    ...(lost === true || gone ? { lost: true } : {}),
    ...(gone ? { notKept: gone } : {}),
    ...(summary ? { summary } : {}),
    ...(result.clipped ? { clipped: left(result) } : {}),
    ...(rest === undefined ? {} : { rest }),
  };
}

function left({ omittedLines, omittedBytes, restFrom, restTo }: Clipped): OmittedText {
  return { omittedLines, omittedBytes, fromLine: restFrom, toLine: restTo };
}
