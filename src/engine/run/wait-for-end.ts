import { deferred } from '../../lib/deferred.ts';
import type { Emitter } from '../../lib/emitter.ts';
import { onPrompt } from '../person/prompts/index.ts';
import { abortable } from '../../system/abortable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Found, resultOf } from './command-result.ts';
import { deafNote, whenDeaf } from './deaf.ts';
import { heartbeat } from './heartbeat.ts';
import { watchInteractive } from './interactive.ts';
import type { RunResult } from './result.ts';
import type { RunningCommand } from './running-command.ts';

/** Waits for the end of a command, for a question, for a program that reads input of its own, or for the time limit. */
export async function waitForEnd(
  terminal: Terminal,
  current: RunningCommand,
  timeoutMs: number,
  signal: AbortSignal,
  progress: (message: string) => void,
): Promise<RunResult> {
  const { watch, origin } = current;
  const { clock } = terminal;
  using _present = terminal.usage.keepAwake();
  const outcome = deferred<Found | undefined>();
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
    return await resultOf(terminal, current, found, signal);
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
