import type { Terminal } from '../terminal/terminal.ts';

/**
 * Where the answer to the newest input begins. A shell with marks tells where the line as typed ends; without marks, and
 * for what a program was told, the echo counts with the rest. Undefined: the line was entered, and has yet to be taken.
 */
export function answerFrom(terminal: Terminal): number | undefined {
  const { blocks, log } = terminal;
  const { last: lastInput } = terminal.input;
  const { marked } = blocks;
  if (lastInput === undefined) return log.end;
  if (!marked) return lastInput.offset;
  const started = blocks.list.find(({ outputFrom }) => outputFrom >= lastInput.offset);
  if (started !== undefined) return started.outputFrom;
  const atPrompt = blocks.promptAt !== undefined && blocks.promptAt <= lastInput.offset;
  return atPrompt ? undefined : lastInput.offset;
}
