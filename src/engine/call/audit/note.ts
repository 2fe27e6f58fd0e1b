import { visible } from '../../../contract/quote.ts';

/** What the audit trail is to say of a call. Never a secret. */
export interface AuditNote {
  /** In a line. */
  readonly detail?: string | undefined;
  /** What it changes, where the trail is to hold all of it: up to 4 KiB. */
  readonly changes?: readonly string[] | undefined;
  /** Names of variables it sets: what they are set to may be a secret. */
  readonly variables?: readonly string[] | undefined;
  /** Length of what a person typed, where that is all that may be kept of it. */
  readonly characters?: number | undefined;
  /** The terminal it opened. */
  readonly terminal?: string | undefined;
}

const longestNames = 400;
const longestChanges = 4096;

/** `env A, B: ls`: the variables come first, so that a long command cannot hide them. */
export function detailOf(
  noted: AuditNote,
  redact: (text: string) => string,
  longestDetail?: number,
): string | undefined {
  const { detail = '', changes = [], variables = [] } = noted;
  const names = variables.length === 0 ? '' : `env ${preview(redact(variables.join(', ')), longestNames)}`;
  const text = preview(redact(detail), longestDetail);
  const changed = preview(redact(changes.join(', ')), longestChanges);
  return [names, text, changed].filter((part) => part !== '').join(': ') || undefined;
}

/** At most so many characters of it, in one line. */
export function preview(text: string, most = 80): string {
  const escaped = visible(JSON.stringify(text).slice(1, -1));
  return escaped.length > most ? `${escaped.slice(0, most - 1)}…` : escaped;
}
