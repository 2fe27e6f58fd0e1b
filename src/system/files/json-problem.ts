import type { z } from 'zod';
import { jsonFault } from '../../lib/json-fault.ts';
import { jsonLine } from '../../lib/json-line.ts';
import { FairleadError } from '../../contract/errors.ts';

/** What is wrong with the text of a file that people may edit, and where: `line 3: …`. Undefined when nothing is. */
export function problemOf(text: string, schema: z.ZodType): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Our own words for the place: V8 quotes a piece of the text, which may hold a password.
    const reason = (error as Error).message.replace(/,? (?:in JSON )?at position.*|, (?:\.\.\.)?".*/s, '');
    return `line ${jsonFault(text) ?? 1}: ${reason}`;
  }
  const issue = schema.safeParse(value).error?.issues[0];
  if (issue === undefined) return undefined;
  const place = issue.path.length === 0 ? 'the whole' : issue.path.map(String).join('.');
  return `line ${jsonLine(text, issue.path)}: ${place}: ${issue.message}`;
}

/** The refusal to write to a malformed file: the person's edits would be lost. */
export const refusal = (path: string, problem: string): FairleadError =>
  new FairleadError('conflict', `${path} cannot be understood (${problem}), so it is left as it is`, {
    hint: 'Nothing was changed. Correct the file, or move it away, and try again.',
  });
