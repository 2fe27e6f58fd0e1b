import type { Terminal } from '../../terminal/terminal.ts';

/** Whether a password prompt reads what is typed now. Where the input mode is unknown, the prompt on the screen tells. */
export function typesUnseen({ process, person }: Terminal): boolean {
  const mode = process?.inputMode();
  return mode === undefined ? person.prompts.current?.secret === true : mode === 'hidden';
}

/** What the audit trail may say of a command that is typed: while nothing is echoed, only how long it is. */
export const commandDetail = (command: string, unseen: boolean): string =>
  unseen ? `${[...command].length} characters` : command;
