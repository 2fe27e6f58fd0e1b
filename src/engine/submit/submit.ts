import { isCarrier, isShell } from '../known-programs.ts';
import type { Lane } from '../input-queue.ts';
import type { Terminal } from '../terminal.ts';
import { checkText, ends, pasteBody, type SubmitMode } from './body.ts';
import { pause } from './pause.ts';
import { gapOf } from './programs.ts';
import { picture, reacts } from './reaction.ts';

export interface SubmitRequest {
  readonly text: string;
  readonly mode: SubmitMode;
  /** Who types. */
  readonly by: string;
  /** Seen by nobody: neither listeners nor recordings nor readers. */
  readonly secret?: boolean;
  /** Milliseconds between text and Enter, where a registry knows the program better. */
  readonly gapMs?: number | undefined;
  /** Whether to make sure that Enter arrived; by default in full-screen programs, never in shells. */
  readonly verify?: boolean | undefined;
}

export interface Submission {
  /** True: the program reacted. False: it did not, not even to another Enter. Unknown: nobody looked, or nobody can tell. */
  readonly submitted: boolean | 'unknown';
  /** Sent as a bracketed paste. */
  readonly wrapped: boolean;
  readonly bytes: number;
  /** Times Enter was pressed. */
  readonly enters: number;
}

/** R-HUB-093 */
const reactMs = 1500;
const mostEnters = 3;
const enter = Uint8Array.of(13);

/**
 * Sends text and what makes the program take it, as one turn at the keyboard: nobody else's keys come in between.
 * Programs that draw their own input line get Enter by itself, after they have taken in the text.
 */
export async function submit(terminal: Terminal, request: SubmitRequest, signal: AbortSignal): Promise<Submission> {
  const { by, secret = false, text } = request;
  checkText(text);
  const size = Buffer.byteLength(text);
  return await terminal.turn({ by, size, secret }, (lane) => deliver(terminal, request, lane), signal);
}

/** The same, by somebody who has the keyboard. */
export async function deliver(terminal: Terminal, request: SubmitRequest, lane: Lane): Promise<Submission> {
  const { text, mode } = request;
  if (mode !== 'enter' && mode !== 'paste') return await atOnce(lane, text + ends[mode], 0);
  await terminal.sync(lane.signal);
  const { bracketedPaste } = terminal.screen.modes;
  const program = terminal.process?.foreground()?.name;
  const wrapped = mode === 'paste' && bracketedPaste;
  const draws = drawsItsInput(terminal);
  if (mode === 'enter' && !draws) return await atOnce(lane, text + ends.enter, 1);
  return await apart(terminal, lane, {
    body: mode === 'paste' ? pasteBody(text, wrapped) : text,
    wrapped,
    gapMs: request.gapMs ?? gapOf(program),
    looks: draws && request.verify !== false,
    insists: request.verify ?? (bracketedPaste && !isCarrier(program)),
  });
}

/**
 * Whether a program draws its own input line, and so may take an Enter that comes with the text for a part of it: it reads
 * raw, or asks for pastes to be marked. Shells do too, but lose nothing.
 */
export function drawsItsInput(terminal: Terminal): boolean {
  const { blocks, process, screen } = terminal;
  if (blocks.state === 'prompt' || isShell(process?.foreground()?.name)) return false;
  // What is typed at a password prompt is not drawn.
  if (terminal.attention.current?.secret) return false;
  return screen.modes.bracketedPaste || (process !== undefined && process.echo() === undefined);
}

async function atOnce(lane: Lane, text: string, enters: number): Promise<Submission> {
  const bytes = Buffer.from(text);
  await lane.write(bytes);
  return { submitted: 'unknown', wrapped: false, bytes: bytes.length, enters };
}

interface Apart {
  readonly body: string;
  readonly wrapped: boolean;
  readonly gapMs: number;
  /** Watch what Enter does. */
  readonly looks: boolean;
  /** Press it again when it did nothing. */
  readonly insists: boolean;
}

async function apart(terminal: Terminal, lane: Lane, how: Apart): Promise<Submission> {
  const { wrapped, gapMs } = how;
  const body = Buffer.from(how.body);
  const from = terminal.log.end;
  await lane.write(body);
  const quiet = await pause(terminal, { gapMs, drawn: how.looks && body.length > 0, from }, lane.signal);
  // A screen that never rests changes with Enter or without.
  const looks = how.looks && quiet;
  let submitted: Submission['submitted'] = 'unknown';
  let enters = 0;
  do {
    const before = looks ? await picture(terminal, lane.signal) : '';
    await lane.write(enter);
    enters++;
    if (looks) submitted = (await reacts(terminal, before, reactMs, lane.signal)) || (how.insists ? false : 'unknown');
  } while (submitted === false && enters < mostEnters);
  return { submitted, wrapped, bytes: body.length + enters, enters };
}
