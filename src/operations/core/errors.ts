import { FairleadError } from '../../contract/errors.ts';
import { sentences } from '../sentences.ts';

/** Plain sentences that say "terminal" where the documented books say "session". */
export function renderCoreError(error: FairleadError): string {
  const own = inOwnWords(error);
  const words = sentences(own);
  const more = Object.entries(own.data ?? {}).filter(([, value]) => isPlain(value) && !words.includes(String(value)));
  return [words, ...more.map(([name, value]) => `${name}: ${String(value)}`)].join('\n');
}

const isPlain = (value: unknown): value is string | number => typeof value === 'number' || typeof value === 'string';

/** The same sentences as facts. */
export function coreErrorFacts(error: FairleadError): { readonly error: Readonly<Record<string, unknown>> } {
  const { code, message, hint, data } = inOwnWords(error);
  return { error: { ...data, code, message, ...(hint !== undefined && { hint }) } };
}

const listThem = 'List them with terminal_list.';

function inOwnWords(error: FairleadError): FairleadError {
  const { code, message, hint, data } = error;
  const terminal = data?.['terminal'];
  if (code === 'terminal_not_found' && typeof terminal === 'string' && data?.['end'] === undefined) {
    return said(error, `There is no terminal "${terminal}".`, listThem);
  }
  if (code === 'terminal_not_found') return said(error, ofTerminals(message), hint ?? listThem);
  if (code === 'terminal_exited') return said(error, ofTerminals(message), hint === undefined ? listThem : goOn);
  return error;
}

const goOn = 'Its last screen can still be read with terminal_read; open another terminal with terminal_open.';

const ofTerminals = (message: string): string => message.replace(/^Session '/, "Terminal '");

const said = ({ code, data, cause }: FairleadError, message: string, hint: string): FairleadError =>
  new FairleadError(code, message, { hint, ...(data && { data }), cause });
