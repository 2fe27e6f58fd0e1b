import { FairleadError } from '../../contract/errors.ts';

/** What an agent is told while a person keeps it from going on, in the bracketed words of the hub's reference. */

const readAgainS = 30;

export const heldCall = (conversation: string, hold: string, until: number): FairleadError =>
  bracketed(
    'held',
    `[held: conversation is paused. This call waits as ${hold} and runs once when the person resumes, unless \
it is dropped first, at ${clockTime(until)} UTC at the latest. Do not retry in a tight loop: the same call again is not queued twice.]`,
    {
      status: 'held',
      conversation_id: conversation,
      hold_id: hold,
      retry_after_s: readAgainS,
    },
  );

export const waitsForOthers = (conversation: string, hold: string): FairleadError =>
  bracketed(
    'held',
    `[held: conversation is being resumed. Calls that were held before run first, then this one, as ${hold}. Send \
the same call again for its answer; it is not queued twice.]`,
    {
      status: 'held',
      conversation_id: conversation,
      hold_id: hold,
      retry_after_s: 2,
    },
  );

export const heldRead = (conversation: string): FairleadError =>
  bracketed(
    'held',
    '[held: conversation is paused. Reads are not queued: ask again when the person has resumed it. Do not retry in a tight loop.]',
    {
      status: 'held',
      conversation_id: conversation,
      retry_after_s: readAgainS,
    },
  );

export const queueFull = (conversation: string): FairleadError =>
  bracketed(
    'hold_queue_full',
    '[error: hold_queue_full] The conversation is paused, and too many of its calls wait already. This call was not queued.',
    {
      status: 'error',
      conversation_id: conversation,
      retry_after_s: readAgainS,
    },
  );

export const holdExpired = (conversation: string, hold: string): FairleadError =>
  bracketed(
    'hold_dropped',
    '[error: hold_expired] The call was held for 30 minutes and then dropped. It did not run.',
    {
      status: 'error',
      conversation_id: conversation,
      hold_id: hold,
    },
  );

export const holdDropped = (conversation: string, hold: string): FairleadError =>
  bracketed(
    'hold_dropped',
    '[error: hold_dropped] The person dropped this call. It did not run; ask the person before you try it again.',
    {
      status: 'error',
      conversation_id: conversation,
      hold_id: hold,
    },
  );

export const conversationRevoked = (conversation: string): FairleadError =>
  bracketed(
    'revoked',
    '[error: conversation revoked] The person ended this conversation. Nothing runs for it until the person approves it again.',
    {
      status: 'error',
      conversation_id: conversation,
    },
  );

export const terminalOver = (terminal: string): FairleadError =>
  new FairleadError('terminal_exited', `Terminal ${terminal} ended while the call was held; nothing was typed.`, {
    hint: 'Open another terminal, or leave the terminal out.',
  });

function bracketed(
  code: 'held' | 'hold_queue_full' | 'hold_dropped' | 'revoked',
  message: string,
  data: Readonly<Record<string, unknown>>,
): FairleadError {
  return new FairleadError(code, message, { data: { ...data, code } });
}

const clockTime = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
