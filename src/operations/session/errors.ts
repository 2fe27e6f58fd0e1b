import type { FairleadError } from '../../contract/errors.ts';
import { sentences } from '../sentences.ts';

/** One line, as the reference words it where it does: `Session 7 not found`, `Missing 'command'`. The hint travels beside it. */
export function renderSessionError(error: FairleadError): string {
  const { code, data, message } = error;
  if (code === 'terminal_not_found' && typeof data?.['terminal'] === 'string')
    return `Session ${data['terminal']} not found`;
  if (code === 'invalid_input' && typeof data?.['missing'] === 'string') return `Missing '${data['missing']}'`;
  return code === 'internal' ? sentences(error) : message;
}
