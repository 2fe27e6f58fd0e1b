import type { FairleadError } from '../contract/errors.ts';

/** Message and hint as sentences. Documented messages have no full stop; one is added before a hint. */
export function sentences({ message, hint }: FairleadError): string {
  if (hint === undefined) return message;
  return `${message}${/[.!?]$/.test(message) ? '' : '.'} ${hint}`;
}
