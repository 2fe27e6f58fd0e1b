import type { FairleadError } from '../../contract/errors.ts';

/** What happened, and what to do next. */
export function renderError(error: FairleadError): string {
  return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
}
