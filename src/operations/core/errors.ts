import type { FairleadError } from '../../contract/errors.ts';
import { sentences } from '../sentences.ts';

/** Plain sentences; what the documented tools call a session is a terminal here. */
export function renderError(error: FairleadError): string {
  const { code, data } = error;
  if (code === 'terminal_not_found' && typeof data?.['terminal'] === 'string' && data['end'] === undefined) {
    return `There is no terminal "${data['terminal']}". List them with terminal_list.`;
  }
  return sentences(error);
}
