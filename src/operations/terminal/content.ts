import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { echoedCommand } from '../../engine/reading/echoed-command.ts';
import { toAnsi } from '../../engine/screen/ansi.ts';
import { renderText } from '../../engine/screen/render-text.ts';
import { PlainFacts } from '../../engine/reading/plain-facts.ts';
import { quiet, answered } from '../../engine/waiting/answered.ts';
import { gone } from '../../engine/terminal/ended.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';
import { inTurn } from '../../system/turns.ts';
import { TerminalFlags, SessionId } from './shared.ts';
import { type Condition, awaitCondition } from '../../engine/waiting/await-condition.ts';

export const ContentInput = z.object({
  visibleOnly: z.boolean().default(false).describe('Only the visible viewport'),
  wrap: z.enum(['join', 'keep']).optional().describe('join long lines, or keep rows as shown'),
  since: z.string().max(64).optional().describe('marker of an earlier answer: only what came after'),
  maxLines: z.number().int().min(1).max(100_000).optional().describe('Only the last lines'),
  lastCommand: z.boolean().default(false).describe("Only the last command's output and exit code"),
  waitFor: z.string().min(1).max(1000).optional().describe('Wait for this text'),
  timeoutMs: z.number().int().min(0).max(30_000).optional().describe('Longest wait; without waitFor: until quiet'),
  sessionId: SessionId,
});
type ContentRequest = z.output<typeof ContentInput>;

export const TerminalContent = z.object({
  content: z.string(),
  sessionId: z.string(),
  cols: z.number().int(),
  rows: z.number().int(),
  altScreen: z.boolean().describe('A full-screen program is showing'),
  marker: z.string().describe('Pass as since to read on from here'),
  lines: z.number().int(),
  omittedLines: z.number().int().describe('Lines left out at the top because of maxLines'),
  sinceLost: z.boolean().optional().describe('The marker was too old: everything is returned'),
  matched: z.boolean().optional().describe('waitFor was found'),
  command: z.string().optional(),
  exitCode: z.number().int().nullable().optional(),
  commandRunning: z.boolean().optional(),
  flags: TerminalFlags,
  outputLost: z.number().int().optional().describe('Bytes of the command no longer kept'),
  status: z.enum(['running', 'exited']),
});
type TerminalContent = z.output<typeof TerminalContent>;

const defaultWaitMs = 10_000;
/** What `toAnsi` writes besides characters. */
const ownSequences = /(\x1b\[[0-9;]*m|\r\n)/;

/** The text of a terminal, after it has answered the newest input. */
export async function readContent(
  terminal: Terminal,
  request: ContentRequest,
  signal: AbortSignal,
  progress: (message: string) => void = () => {},
): Promise<TerminalContent> {
  const { waitFor, timeoutMs } = request;
  let matched: boolean | undefined;
  if (waitFor !== undefined) {
    progress(`Waiting for ${JSON.stringify(waitFor)}`);
    matched = await appears(terminal, request, waitFor, timeoutMs ?? defaultWaitMs, signal);
  } else if (timeoutMs !== undefined) await untilQuiet(terminal, timeoutMs, signal);
  else await answered(terminal, signal);
  await inStep(terminal, signal);
  if (terminal.state.isClosing) throw gone();
  return { ...take(terminal, request), ...(matched === undefined ? {} : { matched }) };
}

/** A long scrollback takes tens of milliseconds: others get a turn first, and then it is read as it is by then. */
async function inStep(terminal: Terminal, signal: AbortSignal): Promise<void> {
  await terminal.sync(signal);
  if (await inTurn(signal)) await terminal.sync(signal);
}

/** What is on the screen right now, with where the cursor is. */
export async function view(terminal: Terminal, form: 'text' | 'ansi', signal: AbortSignal) {
  await answered(terminal, signal);
  await terminal.sync(signal);
  const { screen } = terminal;
  const { x, y, visible } = screen.cursor;
  if (terminal.state.isClosing) throw gone();
  const text = form === 'ansi' ? toAnsi(screen.grid()) : screen.text({ scope: 'viewport', wrap: 'keep' });
  // The colours of the ansi form are ours, made from the cells; what programs printed is in between.
  const plain = new PlainFacts();
  const shown = form === 'ansi' ? cleanBetween(text, plain) : plain.text(text);
  return {
    content: shown,
    cursor: { x, y },
    dimensions: { ...terminal.screen.size },
    cursorVisible: visible,
    title: plain.line(screen.title),
    altScreen: screen.alternate,
    scrollbackRows: screen.scrollbackRows,
    sessionId: terminal.id,
    ...plain.flags,
  };
}

function cleanBetween(ansi: string, plain: PlainFacts): string {
  return ansi
    .split(ownSequences)
    .map((part, at) => (at % 2 === 0 ? plain.text(part) : part))
    .join('');
}

function take(terminal: Terminal, request: ContentRequest): TerminalContent {
  const { screen } = terminal;
  const part = request.lastCommand ? lastBlock(terminal) : rows(terminal, request);
  const plain = new PlainFacts();
  const text = plain.text(part.text);
  const all = text === '' ? [] : text.split('\n');
  const kept = request.maxLines === undefined ? all : all.slice(-request.maxLines);
  const { text: _raw, command, ...facts }: Part = part;
  return {
    content: kept.join('\n'),
    sessionId: terminal.id,
    ...terminal.screen.size,
    altScreen: screen.alternate,
    marker: markerOf(terminal),
    lines: kept.length,
    omittedLines: all.length - kept.length,
    status: terminal.ended ? 'exited' : 'running',
    ...facts,
    ...(command === undefined ? {} : { command: plain.text(command) }),
    ...plain.flags,
  };
}

/** What was asked for, as programs printed it. */
type Part = Pick<TerminalContent, 'sinceLost' | 'command' | 'exitCode' | 'commandRunning' | 'outputLost'> & {
  readonly text: string;
};

function rows(terminal: Terminal, request: ContentRequest): Part {
  const { screen } = terminal;
  const scope = request.visibleOnly ? 'viewport' : 'all';
  const wrap = request.wrap ?? (request.visibleOnly ? 'keep' : 'join');
  if (request.since === undefined || screen.alternate) return { text: screen.text({ scope, wrap }) };
  const row = rowOf(terminal, request.since);
  if (row === undefined) return { text: screen.text({ scope, wrap }), sinceLost: true };
  return { text: screen.text({ scope, wrap, fromRow: row }) };
}

function lastBlock(terminal: Terminal): Part {
  const block = terminal.blocks.last;
  if (!block || block.outputFrom === undefined) {
    throw new FairleadError('not_found', 'No command has been seen in this terminal yet.', {
      hint: 'It needs a shell with integration (bash, zsh, fish, sh); read without lastCommand instead.',
    });
  }
  const { bytes, missed } = terminal.log.read(block.outputFrom, block.outputTo ?? terminal.log.end);
  const command = block.command ?? echoedCommand(block, terminal.log, terminal.screen.size);
  return {
    text: renderText(bytes, terminal.screen.size),
    exitCode: block.exitCode ?? null,
    commandRunning: !block.isOver,
    ...(command === undefined ? {} : { command }),
    ...(missed > 0 ? { outputLost: missed } : {}),
  };
}

/** Row numbers count from the start of the terminal and stay true while it scrolls, within one epoch. */
function markerOf({ screen }: Terminal): string {
  return `${screen.epoch}.${screen.viewportTop + screen.cursor.y}`;
}

function rowOf({ screen }: Terminal, marker: string): number | undefined {
  const match = /^(\d+)\.(\d+)$/.exec(marker);
  if (!match) {
    throw new FairleadError('invalid_input', `since: "${marker.slice(0, 40)}" is not a marker`, {
      hint: 'Pass the marker of an earlier answer, or leave it out.',
    });
  }
  const row = Number(match[2]);
  return Number(match[1]) === screen.epoch && row >= screen.baseRow ? row : undefined;
}

async function untilQuiet(terminal: Terminal, capMs: number, signal: AbortSignal): Promise<void> {
  const since = terminal.input.last ?? { atMs: terminal.clock.monotonic(), offset: terminal.log.end };
  await quiet(terminal, { since, capMs }, signal);
}

/** Text that was there before the newest input, and the echo of that, are no answer; unless the caller says since when. */
async function appears(
  terminal: Terminal,
  request: ContentRequest,
  text: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  await inStep(terminal, signal);
  const { log, screen } = terminal;
  const { last: lastInput } = terminal.input;
  if (request.since !== undefined && take(terminal, request).content.includes(text)) return true;
  const conditions: Condition[] = [{ type: 'text', text }, { type: 'exit' }];
  // What the command did not print it never will.
  if (request.lastCommand) conditions.push({ type: 'command' });
  const since = lastInput === undefined ? log.start : undefined;
  // A full-screen program does not draw again what stays as it is.
  const { hit } = await awaitCondition(terminal, { conditions, timeoutMs, since, shown: screen.alternate }, signal);
  return hit === 0;
}
