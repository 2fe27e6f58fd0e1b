import { type ProgramPrompt, onPrompt } from '../../src/engine/person/prompts/index.ts';
import { abortable } from '../../src/system/abortable.ts';
import type { Terminal } from '../../src/engine/terminal/terminal.ts';
import { deferred } from '../../src/lib/deferred.ts';

/** Resolves when the terminal begins to wait for a person, at once when it does already. Rejects when aborted. */
export async function watchAttention(terminal: Terminal, signal: AbortSignal): Promise<ProgramPrompt> {
  const begun = deferred<ProgramPrompt>();
  using _found = onPrompt(terminal, begun.resolve);
  return await abortable(begun.promise, signal);
}
