import { randomBytes } from 'node:crypto';
import { FairleadError } from '../../contract/errors.ts';
import { shortCommand } from '../../contract/quote.ts';
import { deferred } from '../../lib/deferred.ts';
import { Emitter } from '../../lib/emitter.ts';
import { type ProgramPrompt, onPrompt } from '../person/prompts/index.ts';
import { isCarrier, isShell } from '../shells/known-programs.ts';
import { type Overflow, watchOverflow } from '../reading/long-output/overflow.ts';
import { abortable } from '../../system/abortable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { directoryAfter, directoryBefore } from './directory.ts';
import { fullScreenNote, isFullScreen, shownRows } from './full-screen.ts';
import { deaf, deafNote, isDeaf, type LineAtPrompt, whenDeaf } from './deaf.ts';
import { inputTaken, nothingTyped } from './input-taken.ts';
import { type CommandOrigin, originOf, type Waits, watchInteractive } from './interactive.ts';
import { MarksWatch } from './evidence/marks-watch.ts';
import { SentinelWatch } from './evidence/sentinel-watch.ts';
import { outputText } from './output-text.ts';
import { type Known, type Place, placeOf } from './place.ts';
import { ProgramWatch } from './evidence/program-watch.ts';
import type { CommandOutcome, RunResult, Watch } from './result.ts';
import { notTyped, whenStarted } from './starting.ts';
import { commandLines, markedLines, markerWord } from '../shells/command-text.ts';
import { type UnfinishedRun, unfinishedInstead } from './unfinished.ts';

export type { Confidence, Evidence, RunResult, RunState } from './result.ts';

export interface RunRequest {
  readonly command: string;
  readonly timeoutMs: number;
  /** Who sends it, for the input's record. */
  readonly by: string;
  /** Type it as for a plain shell where nobody seems ready to read it, instead of refusing. */
  readonly force?: boolean;
  /** Refuse a program that is known to be no shell and to bring none, though it reads lines (R-RPC-045). */
  readonly shellsOnly?: boolean;
}

export type FollowRequest = Pick<RunRequest, 'timeoutMs'>;

/** Who forces a command into a shell that is still starting does not wait for it any longer. */
const startMs = 3000;
/** How often somebody who waits is told that there is something to wait for. */
const heartbeatMs = 5000;

interface Run {
  readonly command: string;
  /** Where the shell worked when it was sent. */
  readonly cwd: string | undefined;
  readonly watch: Watch;
  readonly startedMs: number;
  /** Of the end, and of the moment at which the call was cancelled that waited for it. */
  endedMs: number | undefined;
  cancelledMs: number | undefined;
  readonly origin: CommandOrigin;
  readonly prompt: string;
  /** The command that started the program this one was given to. */
  outer: Run | undefined;
  /** The newest command given to the program that this one started. */
  inner: Run | undefined;
  readonly over: Emitter<CommandOutcome>;
  readonly overflow: Overflow;
  ending: CommandOutcome | undefined;
  lastInput: Terminal['lastInput'];
  /** End of the output when a caller was told that it waits for input of its own. */
  toldAt?: number;
  /** For a command that was typed at the prompt of a shell. */
  readonly typed: LineAtPrompt | undefined;
}

/** The newest command of each terminal. */
const runs = new WeakMap<Terminal, Run>();
/** Terminals in which somebody waits for a command now: one at a time (R-RPC-045). */
const waitedFor = new WeakSet<Terminal>();

/**
 * Runs a command and waits for its end, for a question to a person, for a program that wants input, or for the time
 * limit. The command keeps running when the wait ends before it does. Throws `conflict` when the terminal is busy.
 */
export async function runCommand(
  terminal: Terminal,
  request: RunRequest,
  signal: AbortSignal,
  progress: (message: string) => void = () => {},
): Promise<RunResult> {
  if (waitedFor.has(terminal)) throw another();
  typeable(request.command);
  waitedFor.add(terminal);
  try {
    const { waitedMs, early } = await firstPrompt(terminal, request, signal, progress);
    if (early) return early;
    const before = runs.get(terminal);
    // Another line behind that one would be lost with it, or run when it is no longer expected.
    if (before?.typed && before.ending === undefined && (await isDeaf(terminal, before.typed, signal))) {
      throw deaf('it has shown nothing of the command before');
    }
    const known = before && knownBy(before, terminal);
    const idle = known?.idle === true;
    const disturbed = !idle && (await inputTaken(terminal, signal));
    const place = await placeOf(terminal, known, signal, request.force).catch((error: unknown) => {
      throw unfinishedInstead(error, unfinishedRun(terminal));
    });
    if (request.shellsOnly === true && place.kind === 'program') refuseProgram(place.name);
    const current = await submit(terminal, place, request, { idle, disturbed }, signal);
    nest(current, before);
    runs.set(terminal, current);
    const leftMs = Math.max(0, request.timeoutMs - waitedMs);
    return await wait(terminal, current, { timeoutMs: leftMs }, signal, progress);
  } finally {
    waitedFor.delete(terminal);
  }
}

/** Goes on waiting for the newest command of `run` in this terminal; answers at once when it is over. */
export async function follow(
  terminal: Terminal,
  request: FollowRequest,
  signal: AbortSignal,
  progress: (message: string) => void = () => {},
): Promise<RunResult> {
  const current = runs.get(terminal);
  if (current === undefined) {
    throw new FairleadError('not_found', 'No command has been run in this terminal.', {
      hint: 'Run one first; to wait for something else, wait for its text or its prompt.',
    });
  }
  if (waitedFor.has(terminal)) throw another();
  waitedFor.add(terminal);
  try {
    return await wait(terminal, current, request, signal, progress);
  } finally {
    waitedFor.delete(terminal);
  }
}

/** Waits for a shell that is still starting; `early` is the answer where the command could not be typed. */
async function firstPrompt(
  terminal: Terminal,
  { command, timeoutMs, force = false }: RunRequest,
  signal: AbortSignal,
  progress: (message: string) => void,
): Promise<{ readonly waitedMs: number; readonly early?: RunResult }> {
  if (!terminal.isStarting) return { waitedMs: 0 };
  const startedMs = terminal.clock.monotonic();
  using _beating = heartbeat(terminal, startedMs, 'Starting', progress);
  // Forced, it is typed into whatever comes of the start-up files.
  const started = await whenStarted(terminal, force ? Math.min(timeoutMs, startMs) : timeoutMs, signal);
  const waitedMs = Math.round(terminal.clock.monotonic() - startedMs);
  if (started.ready || force) return { waitedMs };
  const early = await notTyped(terminal, started.asks, waitedMs);
  const cwd = directoryBefore(terminal);
  return { waitedMs, early: { ...early, command, ...(cwd === undefined ? {} : { cwd }) } };
}

/** What runs in a terminal and has nobody who waits for it, because the call that did was cancelled. */
export function unfinishedRun(terminal: Terminal): UnfinishedRun | undefined {
  let current = runs.get(terminal);
  while (current?.ending !== undefined) current = current.outer;
  if (current?.cancelledMs === undefined || terminal.ended) return undefined;
  return {
    command: shortCommand(current.command),
    runningMs: Math.round(terminal.clock.monotonic() - current.startedMs),
  };
}

const knownBy = ({ prompt, ending, lastInput }: Run, terminal: Terminal): Known => ({
  prompt,
  idle: ending !== undefined && lastInput === terminal.lastInput,
});

interface Before {
  /** The command before has ended, and nobody has typed anything since. */
  readonly idle: boolean;
  /** Somebody has, just now. */
  readonly disturbed: boolean;
}

async function submit(
  terminal: Terminal,
  place: Place,
  request: RunRequest,
  before: Before,
  signal: AbortSignal,
): Promise<Run> {
  const startedMs = terminal.clock.monotonic();
  await nothingTyped(terminal, signal);
  const origin = originOf(terminal, place.kind === 'marked');
  const { watch, lines } = await prepare(terminal, place, request, before, signal);
  const prompt = place.kind === 'marked' ? '' : place.prompt;
  const started: Run = {
    command: request.command,
    cwd: directoryBefore(terminal),
    watch,
    startedMs,
    endedMs: undefined,
    cancelledMs: undefined,
    origin,
    prompt,
    outer: undefined,
    inner: undefined,
    over: new Emitter(),
    overflow: watchOverflow(terminal, () => watch.outputFrom),
    ending: undefined,
    lastInput: undefined,
    typed: place.kind === 'program' ? undefined : { atMs: terminal.clock.monotonic(), offset: terminal.log.end },
  };
  watch.ended.then(
    (ending) => {
      started.ending = ending;
      started.endedMs = terminal.clock.monotonic();
      started.lastInput = terminal.lastInput;
      started.overflow.endsAt(ending.outputTo);
      if (started.inner?.ending === undefined) started.inner?.watch.outerEnded?.(ending);
      started.over.emit(ending);
    },
    () => started.overflow[Symbol.dispose](),
  );
  try {
    await terminal.send(Buffer.from(lines), request.by, signal, 'command');
  } catch (error) {
    watch[Symbol.dispose]();
    started.overflow[Symbol.dispose]();
    throw error;
  }
  return started;
}

async function prepare(
  terminal: Terminal,
  place: Place,
  { command, by }: RunRequest,
  { idle, disturbed }: Before,
  signal: AbortSignal,
): Promise<{ readonly watch: Watch; readonly lines: string }> {
  // Only text that cannot be typed needs to know what the screen knows.
  if (/\p{Cc}/u.test(command) || command.length > 500) await terminal.sync(signal);
  const { bracketedPaste } = terminal.screen.modes;
  if (place.kind === 'program') {
    const paste = command.includes('\n') && bracketedPaste && !place.name.startsWith('python');
    const body = paste ? `\x1b[200~${command}\x1b[201~` : command.replaceAll('\n', '\r');
    return { watch: new ProgramWatch(terminal, command, place.prompt, by), lines: `${body}\r` };
  }
  if (place.kind === 'shell') {
    // Whoever sees it in the terminal knows what it is for.
    const token = `${markerWord}${randomBytes(9).toString('base64url')}__`;
    const lines = markedLines(command, token, { ...place, paste: bracketedPaste });
    const { blocks, marked, process } = terminal;
    const { pid, name } = process?.foreground() ?? {};
    const silent = marked && pid === Number(blocks.shell?.['pid']) && name === blocks.shell?.['shell'];
    return { watch: new SentinelWatch(terminal, { ...place, token, by, silent }), lines: lines.join('') };
  }
  const { shell } = place;
  const dialect = shell === 'fish' ? 'fish' : 'posix';
  const lines = commandLines(command, { dialect, paste: bracketedPaste, longLines: shell !== 'sh' && shell !== '' });
  for (const line of lines.slice(0, -1)) await enter(terminal, line, by, signal);
  const last = lines.at(-1) ?? '\r';
  // What was sent while the command before ran may be commands of somebody else, and come first.
  const typedAhead = !idle && (terminal.lastAhead ?? -1) >= (terminal.blocks.last?.outputFrom ?? Infinity);
  return { watch: new MarksWatch(terminal, { command, by, line: last, typedAhead, disturbed }), lines: last };
}

/** A command given to a program that an earlier one started ends, at the latest, when that one does. */
function nest(current: Run, before: Run | undefined): void {
  let outer = before;
  while (outer?.ending !== undefined) outer = outer.outer;
  current.outer = outer;
  if (outer !== undefined) outer.inner = current;
}

/** A line that prepares the command, up to the prompt after it. */
async function enter(terminal: Terminal, line: string, by: string, signal: AbortSignal): Promise<void> {
  const { cycle } = terminal.blocks;
  const ready = deferred();
  using _block = terminal.block.on((event) => {
    if (event.type === 'prompt' && terminal.blocks.cycle !== cycle) ready.resolve();
  });
  using _state = terminal.stateChanged.on(() => {
    if (terminal.ended) ready.resolve();
  });
  await terminal.send(Buffer.from(line), by, signal, 'command');
  await abortable(ready.promise, signal);
  // The shell may have asked its terminal something with its prompt; the answer must not come after the next line.
  await terminal.sync(signal);
}

/** Where the processes cannot be seen it has no name, and may well be a shell. */
function refuseProgram(name: string): void {
  if (name === '' || isShell(name) || isCarrier(name)) return;
  throw new FairleadError('conflict', `\`${name}\` has the terminal, and is no shell.`, {
    hint: 'Leave it first (Ctrl+D), type into it, or give force: true to send it the line all the same.',
  });
}

/** Keys are no part of a command: a shell drops them, or takes them for something else. */
function typeable(command: string): void {
  const controls = new Set(command.match(/[\0-\x08\x0b\x0c\x0e-\x1f]/g));
  if (controls.size === 0) return;
  const names = [...controls].map((one) => `U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`);
  throw new FairleadError('invalid_input', `A command holds no control characters: ${names.join(', ')}.`, {
    hint: "Press keys with send; in a command write them as the shell does, such as $'\\033'.",
  });
}

function heartbeat(
  { clock }: Terminal,
  sinceMs: number,
  doing: string,
  progress: (message: string) => void,
): Disposable {
  const beat = (): void => {
    timer = clock.after(heartbeatMs, beat);
    progress(`${doing} for ${Math.round((clock.monotonic() - sinceMs) / 1000)} s`);
  };
  let timer = clock.after(heartbeatMs, beat);
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

async function wait(
  terminal: Terminal,
  current: Run,
  { timeoutMs }: FollowRequest,
  signal: AbortSignal,
  progress: (message: string) => void,
): Promise<RunResult> {
  const { watch, origin } = current;
  const { clock } = terminal;
  using _present = terminal.keepAwake();
  const outcome = deferred<CommandOutcome | { readonly asks: ProgramPrompt } | Waits | undefined>();
  let isLeaving = false;
  const listening: Disposable[] = [
    clock.after(timeoutMs, () => outcome.resolve(undefined)),
    heartbeat(terminal, current.startedMs, 'Running', progress),
  ];
  if (current.ending === undefined) listening.push(current.over.on(outcome.resolve));
  else outcome.resolve(current.ending);
  if (current.typed && current.ending === undefined) {
    const found = (): void => outcome.resolve({ note: deafNote, evidence: 'quiet' });
    listening.push(whenDeaf(terminal, current.typed, found));
  }
  watch.started.then(() => {
    if (isLeaving) return;
    const lookForPrompts = (): void => void listening.push(watchInteractive(terminal, origin, outcome.resolve));
    // A caller who knows that it waits at its prompt waits for something else, until more is printed.
    if (terminal.log.end !== current.toldAt) lookForPrompts();
    else listening.push(once(terminal.output, lookForPrompts));
    listening.push(onPrompt(terminal, (asks) => outcome.resolve({ asks })));
  }, outcome.reject);
  current.cancelledMs = undefined;
  try {
    const found = await abortable(outcome.promise, signal);
    if (found !== undefined && 'note' in found && !('state' in found)) current.toldAt = terminal.log.end;
    return await result(terminal, current, found, signal);
  } catch (error) {
    if (signal.aborted) current.cancelledMs = clock.monotonic();
    throw error;
  } finally {
    isLeaving = true;
    for (const one of listening) one[Symbol.dispose]();
  }
}

function once<T>(emitter: Emitter<T>, heard: () => void): Disposable {
  const listening = emitter.on(() => {
    listening[Symbol.dispose]();
    heard();
  });
  return listening;
}

async function result(
  terminal: Terminal,
  current: Run,
  found: CommandOutcome | { readonly asks: ProgramPrompt } | Waits | undefined,
  signal: AbortSignal,
): Promise<RunResult> {
  const answer = await resultOf(terminal, current, found);
  const cwd = await directoryAfter(terminal, answer, current.cwd, signal);
  const head = answer.missedBytes === 0 ? undefined : current.overflow.headFrom(answer.outputFrom);
  const { omit: marker } = current.watch;
  return {
    ...answer,
    command: current.command,
    ...(cwd === undefined ? {} : { cwd }),
    ...(head === undefined ? {} : { head }),
    ...(marker === undefined ? {} : { marker }),
  };
}

async function resultOf(
  terminal: Terminal,
  { watch, startedMs, endedMs = terminal.clock.monotonic() }: Run,
  found: CommandOutcome | { readonly asks: ProgramPrompt } | Waits | undefined,
): Promise<Omit<RunResult, 'command'>> {
  const durationMs = Math.round(endedMs - startedMs);
  if (found !== undefined && 'state' in found) return { ...(await withOutput(terminal, found, watch)), durationMs };
  // Of a full-screen program only what it shows now is of use, not all that it has drawn.
  const wholeScreen = isFullScreen(terminal);
  const text = wholeScreen ? shownRows(terminal) : watch.textSoFar?.();
  const soFar = await withOutput(
    terminal,
    {
      state: 'running',
      exitCode: null,
      evidence: 'none',
      confidence: 'high',
      outputFrom: watch.outputFrom,
      outputTo: terminal.log.end,
      ...(text === undefined ? {} : { text }),
      ...(wholeScreen ? { note: fullScreenNote(terminal) } : {}),
    },
    watch,
  );
  if (found === undefined) return { ...soFar, durationMs };
  if ('asks' in found) {
    const { asks } = found;
    return { ...soFar, durationMs, state: asks.needs === 'person' ? 'needs_person' : 'needs_input', asks };
  }
  const confidence = found.evidence === 'quiet' ? 'low' : 'medium';
  return { ...soFar, durationMs, evidence: found.evidence, confidence, note: found.note };
}

async function withOutput(
  terminal: Terminal,
  { text, ...facts }: Omit<CommandOutcome, 'state'> & { readonly state: RunResult['state'] },
  { omit }: Watch,
): Promise<Omit<RunResult, 'durationMs' | 'command'>> {
  if (text !== undefined) return { ...facts, output: text, missedBytes: 0 };
  const read = await outputText(terminal.log, facts.outputFrom, facts.outputTo, terminal.size);
  const output = omit !== undefined && read.text.includes(omit) ? linesWithout(read.text, omit) : read.text;
  return { ...facts, output, missedBytes: read.missed };
}

const linesWithout = (text: string, word: string): string =>
  text
    .split('\n')
    .filter((line) => !line.includes(word))
    .join('\n');

function another(): FairleadError {
  return new FairleadError('conflict', 'Another call waits for a command in this terminal.', {
    hint: 'Wait for that call, or open another terminal.',
  });
}
