import { CallFailed } from './live.ts';

/**
 * What went wrong, in words for a person, with what to do next where the server says so. `isRead`: a page wanted to show it; a person
 * who may not see it learns who can change that. An act tells the reason of the server.
 */
export function faultWords(error: unknown, isRead = false): string {
  if (!(error instanceof CallFailed)) return error instanceof Error ? error.message : String(error);
  const { code, message, hint } = error.failure;
  if (isRead && code === 'not_permitted') return 'You may not see this. An owner can change that.';
  if (code === 'internal') return `Something went wrong: ${incidentIn(hint ?? message) ?? message}. It is in the log.`;
  return [message, hint].filter((one) => one !== undefined && one !== '').join(' ');
}

/** The number under which the server's log has it. */
const incidentIn = (message: string): string | undefined => /\bincident ([\w-]+)/.exec(message)?.[1];
