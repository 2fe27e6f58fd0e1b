import { FairleadError } from '../../contract/errors.ts';
import { shortCommand } from '../../contract/quote.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { deaf, isDeaf } from './deaf.ts';
import { directoryBefore } from './directory.ts';
import { heartbeat } from './heartbeat.ts';
import { inputTaken } from './input-taken.ts';
import { placeOf } from './place.ts';
import { anotherWaits, mustBeTypeable, refuseProgram } from './refusals.ts';
import type { RunResult } from './result.ts';
import { knownBy, nest } from './running-command.ts';
import { notTyped, whenStarted } from './starting.ts';
import { submitCommand } from './submit-command.ts';
import { type UnfinishedRun, unfinishedInstead } from './unfinished.ts';
import { waitForEnd } from './wait-for-end.ts';

export type { Confidence, RunResult, RunState } from './result.ts';
import { timings } from '../waiting/timings.ts';

const { forcedMs } = timings.starting;

export interface RunRequest {
  readonly command: string;
  readonly timeoutMs: number;
  /** Who sends it, for the input's record. */
  readonly by: string;
  /** Type it as for a plain shell if no reader seems ready, instead of refusing. */
  readonly force?: boolean;
  /** Refuse a program that is known to be no shell and to bring none, though it reads lines. */
  readonly shellsOnly?: boolean;
}

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
  if (terminal.commands.isAwaited) throw anotherWaits();
  mustBeTypeable(request.command);
  terminal.commands.isAwaited = true;
  try {
    const { waitedMs, early } = await firstPrompt(terminal, request, signal, progress);
    if (early) return early;
    const before = terminal.commands.newest;
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
    const current = await submitCommand(terminal, place, request, { idle, disturbed }, signal);
    nest(current, before);
    terminal.commands.newest = current;
    const leftMs = Math.max(0, request.timeoutMs - waitedMs);
    return await waitForEnd(terminal, current, leftMs, signal, progress);
  } finally {
    terminal.commands.isAwaited = false;
  }
}

/** Goes on waiting for the newest command of `run` in this terminal; answers at once when it is over. */
export async function follow(
  terminal: Terminal,
  { timeoutMs }: Pick<RunRequest, 'timeoutMs'>,
  signal: AbortSignal,
  progress: (message: string) => void = () => {},
): Promise<RunResult> {
  const current = terminal.commands.newest;
  if (current === undefined) {
    throw new FairleadError('not_found', 'No command has been run in this terminal.', {
      hint: 'Run one first; to wait for something else, wait for its text or its prompt.',
    });
  }
  if (terminal.commands.isAwaited) throw anotherWaits();
  terminal.commands.isAwaited = true;
  try {
    return await waitForEnd(terminal, current, timeoutMs, signal, progress);
  } finally {
    terminal.commands.isAwaited = false;
  }
}

/** Waits for a shell that is still starting; `early` is the answer where the command could not be typed. */
async function firstPrompt(
  terminal: Terminal,
  { command, timeoutMs, force = false }: RunRequest,
  signal: AbortSignal,
  progress: (message: string) => void,
): Promise<{ readonly waitedMs: number; readonly early?: RunResult }> {
  if (!terminal.state.isStarting) return { waitedMs: 0 };
  const startedMs = terminal.clock.monotonic();
  using _beating = heartbeat(terminal, startedMs, 'Starting', progress);
  // Forced, it is typed into whatever comes of the start-up files.
  const started = await whenStarted(terminal, force ? Math.min(timeoutMs, forcedMs) : timeoutMs, signal);
  const waitedMs = Math.round(terminal.clock.monotonic() - startedMs);
  if (started.ready || force) return { waitedMs };
  const early = await notTyped(terminal, started.asks, waitedMs);
  const cwd = directoryBefore(terminal);
  return { waitedMs, early: { ...early, command, ...(cwd === undefined ? {} : { cwd }) } };
}

/** A run without a waiting call: its caller was cancelled. */
export function unfinishedRun(terminal: Terminal): UnfinishedRun | undefined {
  let current = terminal.commands.newest;
  while (current?.ending !== undefined) current = current.outer;
  if (current?.cancelledMs === undefined || terminal.ended) return undefined;
  return {
    command: shortCommand(current.command),
    runningMs: Math.round(terminal.clock.monotonic() - current.startedMs),
  };
}
