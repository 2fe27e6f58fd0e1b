import { FairleadError } from '../../contract/errors.ts';
import { deferred } from '../../lib/deferred.ts';
import { renderText } from '../screen/render-text.ts';
import { abortable } from '../../system/abortable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { deaf, readsKeys } from './deaf.ts';
import { whenExited } from './evidence/exited.ts';
import { afterQuiet } from '../waiting/quiet-watch.ts';

/** Input that was not answered by then never will be. */
const limitMs = 1000;
/** A program that answered is done answering after this long without output. */
const answeredMs = 100;
/** A program that has not answered at all may be slow to wake up. */
const silentMs = 300;

/**
 * Waits until the program has dealt with what somebody else has just sent it: shells throw input away while they handle
 * Ctrl-C, and draw a prompt that the next command must not be blamed for. True when there was such input.
 */
export async function inputTaken(terminal: Terminal, signal: AbortSignal): Promise<boolean> {
  const { clock, lastInput, log } = terminal;
  if (lastInput === undefined || commandOver(terminal, lastInput.offset)) return false;
  const left = lastInput.atMs + limitMs - clock.monotonic();
  if (left <= 0) return false;
  const done = deferred();
  const since = Math.max(lastInput.atMs, terminal.lastOutputMs ?? 0);
  const answered = (): boolean => log.end > lastInput.offset && !interrupting(terminal);
  using _limit = clock.after(left, done.resolve);
  using _answered = afterQuiet(terminal, answeredMs, () => void (answered() && done.resolve()), since);
  // Ctrl-C has a shell draw its prompt anew, and until then it throws away what is typed.
  const stopping = lastInput.stops === true && terminal.blocks.promptAt !== undefined;
  const quiet = (): void => void (log.end === lastInput.offset && !stopping && done.resolve());
  using _silent = afterQuiet(terminal, silentMs, quiet, since);
  using _exited = whenExited(terminal, () => done.resolve());
  if (terminal.ended) done.resolve();
  await abortable(done.promise, signal);
  return true;
}

/** A shell that was told to stop draws its prompt anew; one that has not by then never will. */
const redrawMs = 5000;

/** Waits for the prompt after a Ctrl-C that the terminal shows: what stands before it was dropped, and is nobody's text. */
export async function promptRedrawn(
  terminal: Terminal,
  signal: AbortSignal,
  isDue: (terminal: Terminal) => boolean = interrupting,
): Promise<void> {
  if (!isDue(terminal)) return;
  const done = deferred();
  const look = (): void => void (isDue(terminal) || done.resolve());
  using _limit = terminal.clock.after(redrawMs, done.resolve);
  using _block = terminal.block.on(look);
  using _exited = whenExited(terminal, () => done.resolve());
  await abortable(done.promise, signal);
}

/** A command must not become the end of what somebody else has begun to type. */
export async function nothingTyped(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const shown = (): number | undefined => {
    const { promptAt } = terminal.blocks;
    return terminal.marked && (terminal.lastInput?.offset ?? -1) >= (promptAt ?? Infinity) ? promptAt : undefined;
  };
  if (shown() !== undefined) await promptRedrawn(terminal, signal);
  const promptAt = shown();
  if (promptAt === undefined) return;
  const typed = renderText(terminal.log.read(promptAt).bytes, terminal.size).trim();
  if (typed === '') return;
  if (unanswered(terminal)) {
    await promptRedrawn(terminal, signal, unanswered);
    if (unanswered(terminal)) throw deaf('it has not answered Ctrl+C');
    return await nothingTyped(terminal, signal);
  }
  throw new FairleadError('conflict', `Unfinished text stands at the prompt: ${JSON.stringify(typed.slice(0, 80))}.`, {
    hint: 'Press Enter to run it or Ctrl+U to clear it, then run the command.',
  });
}

/** The input was a command, and the prompt after it is there. */
function commandOver({ blocks }: Terminal, inputAt: number): boolean {
  const { last, promptAt } = blocks;
  return promptAt !== undefined && last !== undefined && last.outputFrom >= inputAt;
}

/** Ctrl-C was shown, and the prompt after it was not. */
function interrupting({ blocks, log, size }: Terminal): boolean {
  const { promptAt } = blocks;
  return promptAt !== undefined && /\^C\s*$/.test(renderText(log.read(promptAt).bytes, size));
}

/** The newest input was Ctrl-C, and a shell that reads keys has drawn no prompt since. */
function unanswered(terminal: Terminal): boolean {
  const { blocks, lastInput } = terminal;
  return lastInput?.stops === true && (blocks.promptAt ?? -1) <= lastInput.offset && readsKeys(terminal);
}
