import { CallFailed } from './live.ts';

/**
 * What went wrong, in words for a person, with what to do next where the server says so. `isRead`: a page wanted to show it; a person
 * who may not see it learns who can change that. An act tells the reason of the server.
 */
export function faultWords(error: unknown, isRead = false): string {
  if (!(error instanceof CallFailed)) return error instanceof Error ? error.message : String(error);
  const { code, message, hint } = error.failure;
  if (isRead && code === 'not_permitted') return 'You may not see this. An owner can change that.';
  if (code === 'internal')
    return `Something went wrong: ${/\bincident ([\w-]+)/.exec(hint ?? message)?.[1] ?? message}. It is in the log.`;
  return hint ? `${message} ${hint}` : message;
}
