import { isCarrier } from '../shells/carriers.ts';
import { isShell } from '../shells/traits.ts';
import type { KeyboardLane } from './keyboard.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { checkText, ends, pasteBody, type SubmitMode } from './paste-body.ts';
import { pause } from './pause.ts';
import { pauseOf } from './programs.ts';
import { picture, reacts } from './reaction.ts';
import { drawsKeys } from '../shells/input-mode.ts';
import { timings } from '../waiting/timings.ts';

const { reactMs, silentMs } = timings.submit;

interface SubmitRequest {
  readonly text: string;
  readonly mode: SubmitMode;
  /** Who types. */
  readonly by: string;
  /** A command was judged as one; apart from its Enter it is judged as keys. */
  readonly as?: 'keys' | 'command' | undefined;
  /** Hidden from listeners, recordings and readers. */
  readonly secret?: boolean;
  /** Milliseconds between text and Enter, where a registry knows the program better. */
  readonly gapMs?: number | undefined;
  /** Whether to make sure that Enter arrived; by default in full-screen programs, never in shells. */
  readonly verify?: boolean | undefined;
}

interface Submission {
  /** True: the program reacted. False: it did not, not even to another Enter. Unknown: not checked, or not visible. */
  readonly submitted: boolean | 'unknown';
  /** Sent as a bracketed paste. */
  readonly wrapped: boolean;
  readonly bytes: number;
  /** Times Enter was pressed. */
  readonly enters: number;
}

const mostEnters = 3;
const enter = Uint8Array.of(13);

/**
 * Sends text and the keys that submit it in one keyboard turn: no other sender's keys come in between.
 * Programs that draw their own input line get Enter by itself, after they have taken in the text.
 */
export async function submit(terminal: Terminal, request: SubmitRequest, signal: AbortSignal): Promise<Submission> {
  const { by, secret = false, text, as } = request;
  checkText(text);
  const size = Buffer.byteLength(text + ends[request.mode]);
  return await terminal.input.turn({ by, size, secret, as }, (lane) => deliver(terminal, request, lane), signal);
}

/** The same, within a turn that is already held. */
export async function deliver(terminal: Terminal, request: SubmitRequest, lane: KeyboardLane): Promise<Submission> {
  const { text, mode } = request;
  if (mode === 'enter') return await enterText(terminal, request, lane);
  if (mode !== 'paste') return await atOnce(lane, text + ends[mode], 0);
  await terminal.sync(lane.signal);
  const care = careFor(terminal, request);
  const wrapped = terminal.screen.modes.bracketedPaste;
  const body = pasteBody(text, wrapped);
  lane.check(body + ends.paste);
  const typed = await typeBody(terminal, lane, body);
  return { ...(await enterAfter(terminal, lane, typed, care)), wrapped };
}

async function enterText(terminal: Terminal, request: SubmitRequest, lane: KeyboardLane): Promise<Submission> {
  const { blocks, process, person } = terminal;
  const whole = request.text + ends.enter;
  // Text typed at a password prompt is not drawn, and afterwards the prompt is no longer known.
  if (blocks.state === 'prompt' || person.prompts.current?.secret) return await atOnce(lane, whole, 1);
  // Of a program far away only the screen tells; a line that is judged, or may end the program, goes with its Enter where it can.
  if (!process || lane.isJudged || /[\r\n]/.test(request.text)) {
    await terminal.sync(lane.signal);
    if (!drawsItsInput(terminal)) return await atOnce(lane, whole, 1);
    lane.check(whole);
  }
  // The text goes first: the program works on it while we look which program it is.
  const typed = await typeBody(terminal, lane, request.text);
  if (atShell(terminal) || readsLines(terminal)) return await enterOnce(lane, typed);
  await terminal.sync(lane.signal);
  const care = careFor(terminal, request);
  return await (care.draws ? enterAfter(terminal, lane, typed, care) : enterOnce(lane, typed));
}

/**
 * Whether a program draws its own input line, and so may take an Enter that comes with the text for a part of it: it reads
 * raw, or asks for pastes to be marked. Shells do too, but lose nothing.
 */
export function drawsItsInput(terminal: Terminal): boolean {
  const { process, screen } = terminal;
  if (atShell(terminal)) return false;
  // What is typed at a password prompt is not drawn.
  if (terminal.person.prompts.current?.secret) return false;
  return screen.modes.bracketedPaste || drawsKeys(process?.inputMode()) === true;
}

const atShell = ({ blocks, process }: Terminal): boolean =>
  blocks.state === 'prompt' || isShell(process?.foreground()?.name);

/** It gets whole lines from the terminal, which echoes them or not, and asks for no marked pastes. */
const readsLines = ({ process, screen }: Terminal): boolean =>
  drawsKeys(process?.inputMode()) === false && !screen.modes.bracketedPaste;

async function atOnce(lane: KeyboardLane, text: string, enters: number): Promise<Submission> {
  const bytes = Buffer.from(text);
  await lane.write(bytes);
  return { submitted: 'unknown', wrapped: false, bytes: bytes.length, enters };
}

/** Text that was typed without its Enter. */
interface Body {
  readonly bytes: number;
  /** End of the output before. */
  readonly from: number;
}

/** As keys, like its Enter: until then it is an open line, even if policy judged it before. */
async function typeBody(terminal: Terminal, lane: KeyboardLane, text: string): Promise<Body> {
  const bytes = Buffer.from(text);
  const from = terminal.log.end;
  if (bytes.length > 0) await lane.write(bytes, 'keys');
  return { bytes: bytes.length, from };
}

async function enterOnce(lane: KeyboardLane, { bytes }: Body): Promise<Submission> {
  await lane.write(enter, 'keys');
  return { submitted: 'unknown', wrapped: false, bytes: bytes + 1, enters: 1 };
}

interface SubmitCare {
  readonly draws: boolean;
  readonly gapMs: number;
  /** Watch what Enter does. */
  readonly looks: boolean;
  /** Press it again when it did nothing. */
  readonly insists: boolean;
}

function careFor(terminal: Terminal, request: SubmitRequest): SubmitCare {
  const program = terminal.process?.foreground()?.name;
  const draws = drawsItsInput(terminal);
  return {
    draws,
    gapMs: request.gapMs ?? pauseOf(program),
    looks: draws && request.verify !== false,
    insists: request.verify ?? (terminal.screen.modes.bracketedPaste && !isCarrier(program)),
  };
}

async function enterAfter(terminal: Terminal, lane: KeyboardLane, body: Body, care: SubmitCare): Promise<Submission> {
  const drawn = care.looks && body.bytes > 0;
  const quiet = await pause(terminal, { gapMs: care.gapMs, drawn, from: body.from }, lane.signal);
  // A screen that never rests changes with Enter or without.
  const looks = care.looks && quiet;
  const silent = body.bytes > 0 && terminal.log.end === body.from;
  // A program that shows nothing of the text may have asked for a secret: another Enter would be another answer.
  const insists = care.insists && !silent;
  const limitMs = silent ? silentMs : reactMs;
  let submitted: Submission['submitted'] = 'unknown';
  let enters = 0;
  do {
    const before = looks ? await picture(terminal, lane.signal) : '';
    await lane.write(enter, 'keys');
    enters++;
    if (looks) submitted = (await reacts(terminal, before, limitMs, lane.signal)) || (insists ? false : 'unknown');
  } while (submitted === false && enters < mostEnters);
  return { submitted, wrapped: false, bytes: body.bytes + enters, enters };
}
