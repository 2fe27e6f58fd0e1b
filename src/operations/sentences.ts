import type { FairleadError } from '../contract/errors.ts';

/** What happened, and what to do next. Documented messages have no full stop; before a hint they get one. */
export function sentences({ message, hint }: FairleadError): string {
  if (hint === undefined) return message;
  return `${message}${/[.!?]$/.test(message) ? '' : '.'} ${hint}`;
}
