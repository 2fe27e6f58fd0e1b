import { FairleadError } from '../../contract/errors.ts';
import type { LastInput } from '../input/type-ahead.ts';
import { renderText } from '../screen/render-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { deaf, readsKeys } from './deaf.ts';
import { type Holds, until } from '../waiting/until.ts';
import { timings } from '../waiting/timings.ts';

const { limitMs, answeredMs, silentMs, redrawMs } = timings.place;

/**
 * Waits until the program has dealt with input of another sender: shells throw input away while they handle
 * Ctrl-C, and draw a prompt that the next command must not be blamed for. True when there was such input.
 */
export async function inputTaken(terminal: Terminal, signal: AbortSignal): Promise<boolean> {
  const { clock } = terminal;
  const lastInput = terminal.input.last;
  if (lastInput === undefined || commandOver(terminal, lastInput.offset)) return false;
  const left = lastInput.atMs + limitMs - clock.monotonic();
  if (left <= 0) return false;
  // Ctrl-C has a shell draw its prompt anew, and until then it throws away what is typed.
  const stopping = lastInput.stops === true && terminal.blocks.promptAt !== undefined;
  await until(terminal, () => terminal.ended !== undefined || takenAt(terminal, lastInput, stopping), left, signal);
  return true;
}

/** An answer was printed and is over, or the program is quiet and seems to have nothing to say. */
function takenAt(terminal: Terminal, { atMs, offset }: LastInput, stopping: boolean): Holds {
  const { clock, log } = terminal;
  const since = Math.max(atMs, terminal.usage.lastOutputMs ?? 0);
  if (clock.monotonic() < since + answeredMs) return since + answeredMs;
  if (log.end > offset) return !interrupting(terminal);
  return !stopping && since + silentMs;
}

/** Waits for the prompt after an echoed Ctrl-C: the text before it was dropped. */
async function promptRedrawn(
  terminal: Terminal,
  signal: AbortSignal,
  isDue: (terminal: Terminal) => boolean = interrupting,
): Promise<void> {
  if (!isDue(terminal)) return;
  const { promptAt } = terminal.blocks;
  await until(terminal, () => terminal.blocks.promptAt !== promptAt && !isDue(terminal), redrawMs, signal);
}

/** A command must not be appended to a line that another sender has begun. */
export async function nothingTyped(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const shown = (): number | undefined => {
    const { promptAt } = terminal.blocks;
    return terminal.blocks.marked && (terminal.input.last?.offset ?? -1) >= (promptAt ?? Infinity)
      ? promptAt
      : undefined;
  };
  if (shown() !== undefined) await promptRedrawn(terminal, signal);
  const promptAt = shown();
  if (promptAt === undefined) return;
  const typed = renderText(terminal.log.read(promptAt).bytes, terminal.screen.size).trim();
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
function interrupting({ blocks, log, screen: { size } }: Terminal): boolean {
  const { promptAt } = blocks;
  return promptAt !== undefined && /\^C\s*$/.test(renderText(log.read(promptAt).bytes, size));
}

/** The newest input was Ctrl-C, and a shell that reads keys has drawn no prompt since. */
function unanswered(terminal: Terminal): boolean {
  const { blocks, input } = terminal;
  const lastInput = input.last;
  return lastInput?.stops === true && (blocks.promptAt ?? -1) <= lastInput.offset && readsKeys(terminal);
}
