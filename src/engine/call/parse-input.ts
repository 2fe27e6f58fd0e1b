import type { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { quote } from '../../contract/quote.ts';
import { meantName } from './argument-names.ts';
import { inputWords } from './input-words.ts';
import type { Operation } from './operation.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What an operation takes, of what a caller gave. Throws one line about the first fault, not a validator's dump. */
export function parseInput<In extends z.ZodType>(
  { input, faults }: Pick<Operation<In>, 'input' | 'faults'>,
  raw: unknown,
): z.output<In> {
  const parsed = parseWithNulls(input, raw);
  if (parsed.success) return parsed.data;
  const { error } = parsed;
  const [field] = error.issues[0]?.path ?? [];
  const text = explain(error, input, raw);
  if (typeof field === 'string' && faults !== undefined && Object.hasOwn(faults, field)) {
    const own = faults[field]?.(text, (raw as Fields)[field]);
    if (own !== undefined) throw own;
  }
  const [issue] = error.issues;
  const missing = issue !== undefined && isMissing(issue, raw) ? { missing: issue.path.map(String).join('.') } : {};
  throw new FairleadError('invalid_input', text, { data: missing });
}

/** Some clients send null for every argument that is not given; where it means nothing else, it means that. */
function parseWithNulls<In extends z.ZodType>(input: In, raw: unknown): z.ZodSafeParseResult<z.output<In>> {
  const parsed = input.safeParse(raw, { error: inputWords });
  if (parsed.success || typeof raw !== 'object' || raw === null) return parsed;
  const nulls = parsed.error.issues.flatMap(({ path: [field] }) =>
    typeof field === 'string' && (raw as Fields)[field] === null ? [field] : [],
  );
  if (nulls.length === 0) return parsed;
  const rest = Object.entries(raw).filter(([name]) => !nulls.includes(name));
  return input.safeParse(Object.fromEntries(rest), { error: inputWords });
}

function isMissing(issue: z.core.$ZodIssue, raw: unknown): boolean {
  if (issue.code !== 'invalid_type') return false;
  return (
    issue.path.reduce<unknown>((at, key) => (at as Fields | null | undefined)?.[String(key)] ?? undefined, raw) ===
    undefined
  );
}

/** `field: problem` of the first fault: one line a model can act on. */
function explain(error: z.ZodError, input: z.ZodType, raw: unknown): string {
  const issue = error.issues[0];
  if (!issue) return 'The arguments are not valid.';
  const field = issue.path.map(String).join('.');
  const slip = isMissing(issue, raw) ? misspelt(field, input, raw) : undefined;
  const rest = error.issues.length - 1;
  const more = rest > 0 ? ` (and ${rest} more ${rest === 1 ? 'problem' : 'problems'})` : '';
  const unknown = slip === undefined ? '' : `; there is no "${quote(slip)}"`;
  return `${field === '' ? 'arguments' : field}: ${issue.message.replaceAll('\n', ' ')}${unknown}${more}`;
}

/** A name that no argument has, and that is nearly the one that is missing. Otherwise such names are ignored. */
function misspelt(field: string, input: z.ZodType, raw: unknown): string | undefined {
  if (typeof raw !== 'object' || raw === null || !('shape' in input)) return undefined;
  const shape = input.shape as object;
  return Object.keys(raw).find((name) => !Object.hasOwn(shape, name) && meantName(name, Object.keys(shape)) === field);
}
