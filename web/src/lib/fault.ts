import { CallFailed } from './live.ts';

/** What went wrong with an act, in words for a person, with what to do next where the server says so. */
export function faultWords(error: unknown): string {
  if (!(error instanceof CallFailed)) return error instanceof Error ? error.message : String(error);
  const { code, message, hint } = error.failure;
  if (code === 'internal') return `Something went wrong: ${incidentIn(hint ?? message) ?? message}. It is in the log.`;
  return [message, hint].filter((one) => one !== undefined && one !== '').join(' ');
}

/** The same for what a page wanted to show: a person who may not see it learns who can change that. */
export const readFaultWords = (error: unknown): string =>
  error instanceof CallFailed && error.failure.code === 'not_permitted'
    ? 'You may not see this. An owner can change that.'
    : faultWords(error);

/** The number under which the server's log has it. */
const incidentIn = (message: string): string | undefined => /\bincident ([\w-]+)/.exec(message)?.[1];
