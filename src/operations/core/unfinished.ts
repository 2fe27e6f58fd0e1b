import { z } from 'zod';
import { visibleLines } from '../../contract/quote.ts';
import { unfinishedRun } from '../../engine/run/run.ts';
import { unfinishedWords } from '../../engine/run/unfinished.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';

/** The command of a cancelled call that still runs. */
export const Unfinished = z.object({
  command: z.string(),
  runningMs: z.number().int(),
  hint: z.string(),
});

export function unfinishedIn(terminal: Terminal): { unfinished?: z.output<typeof Unfinished> } {
  const run = unfinishedRun(terminal);
  if (run === undefined) return {};
  return { unfinished: { ...run, command: visibleLines(run.command), hint: unfinishedHint } };
}

const unfinishedHint = 'Call terminal_run without command to wait for it, or send the key Ctrl+C to interrupt it.';

export function unfinishedFacts(unfinished: z.output<typeof Unfinished> | undefined): string[] {
  return unfinished === undefined ? [] : [`${unfinishedWords(unfinished)} ${unfinished.hint}`];
}
