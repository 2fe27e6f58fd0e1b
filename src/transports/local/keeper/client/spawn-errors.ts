import { type ErrorCode, errorTable, FairleadError } from '../../../../contract/errors.ts';
import type { Failed } from '../messages.ts';

/** Why the keeper could not open a terminal. */
export function spawnError({
  code = '',
  message = 'The terminal could not be opened.',
  hint,
  data,
}: Partial<Failed>): FairleadError {
  const known = code in errorTable ? (code as ErrorCode) : 'internal';
  return new FairleadError(known, message, { ...(hint === undefined ? {} : { hint }), ...(data ? { data } : {}) });
}

/** The keeper ended without an answer. */
export function keeperGone(): FairleadError {
  return new FairleadError('unavailable', 'The keeper of the terminals ended before it could open this one.', {
    hint: 'Try again: a new keeper is started.',
  });
}
