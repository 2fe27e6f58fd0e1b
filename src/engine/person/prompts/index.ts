import type { Terminal } from '../../terminal/terminal.ts';
import type { ProgramPrompt } from './prompt.ts';

export { type ProgramPrompt, type PromptKind, promptKinds } from './prompt.ts';

/** What the program in the terminal waits for, by what it shows. Call it after `terminal.sync()`. */
export function promptOf(terminal: Terminal): ProgramPrompt | undefined {
  return terminal.person.prompts.current ?? terminal.person.prompts.look();
}

/** Calls back when a program begins to wait for an answer, at once when it does already. */
export function onPrompt(terminal: Terminal, found: (attention: ProgramPrompt) => void): Disposable {
  const seen = (attention: ProgramPrompt | undefined): void => {
    if (attention) found(attention);
  };
  seen(terminal.person.prompts.current);
  return terminal.person.prompts.changed.on(seen);
}
