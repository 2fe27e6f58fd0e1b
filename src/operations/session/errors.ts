import type { FairleadError } from '../../contract/errors.ts';
import { sentences } from '../sentences.ts';

/** One line in the reference's words: `Session 7 not found`, `Missing 'command'`. The hint goes into `error.data`. */
export function renderSessionError(error: FairleadError): string {
  const { code, data, message } = error;
  if (code === 'terminal_not_found' && typeof data?.['terminal'] === 'string')
    return `Session ${data['terminal']} not found`;
  if (code === 'invalid_input' && typeof data?.['missing'] === 'string') return `Missing '${data['missing']}'`;
  return code === 'internal' ? sentences(error) : message;
}
