import { FairleadError } from '../contract/errors.ts';
import { deferred } from '../lib/deferred.ts';

/** The promise, or the end of the wait for it. The work itself goes on. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const stop = deferred<never>();
  const abort = (): void => stop.reject(signal.reason === unwanted ? unwanted : cancelled());
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (signal.aborted) abort();
    return await Promise.race([work, stop.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * The abort reason of a wait whose caller is gone. One shared error: a fresh one with its stack trace costs more than the
 * rest of a short command.
 */
export const unwanted = new FairleadError('cancelled', 'The wait was cancelled.');

const cancelled = (): FairleadError => new FairleadError('cancelled', 'The call was cancelled.');
