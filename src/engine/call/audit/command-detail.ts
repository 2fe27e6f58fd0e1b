import type { Terminal } from '../../terminal/terminal.ts';

/** Whether what is typed now is for nobody's eyes: a password prompt reads it. */
export const typesUnseen = ({ process }: Terminal): boolean => process?.echo() === false;

/** What the audit trail may say of a command that is typed: while nothing is echoed, only how long it is (R-RPC-036). */
export const commandDetail = (command: string, unseen: boolean): string =>
  unseen ? `${[...command].length} characters` : command;
