import type { z } from 'zod';
import { quote } from '../../contract/quote.ts';
import { meantName } from './argument-names.ts';

type Issue = z.core.$ZodRawIssue;
/** A schema fault in words that help to fix it. Undefined keeps the validator's own words. */
export const inputWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue);
    case 'too_small':
      return bound(issue, 'at least', issue.minimum);
    case 'too_big':
      return bound(issue, 'at most', issue.maximum);
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : noneOf(issue.errors);
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'unrecognized_keys':
      return unknownNames(issue.keys, (issue.inst as { readonly shape?: object } | undefined)?.shape ?? {});
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    default:
      return undefined;
  }
};

/** Required, and not there. */
const required = (expected: string): string =>
  expected === 'nonoptional' ? 'is required' : `is required (${expected})`;

function wrongType({ expected, input }: Issue & { readonly expected: string }): string {
  if (input === undefined) return required(expected);
  const given = kindOf(input);
  const wanted = kinds[expected] ?? expected;
  if (expected === 'int' && given === kinds['number']) return `must be ${wanted}`;
  return `must be ${wanted}, not ${given}`;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function kindOf(input: unknown): string {
  if (input === null) return 'null';
  if (typeof input === 'boolean') return String(input);
  return kinds[Array.isArray(input) ? 'array' : typeof input] ?? typeof input;
}

function bound(issue: Issue, side: 'at least' | 'at most', limit: number | bigint): string {
  const { origin, exact, inclusive } = issue as { origin?: string; exact?: boolean; inclusive?: boolean };
  const unit = units[origin ?? ''];
  if (unit !== undefined) {
    if (side === 'at least' && limit === 1 && exact !== true) return 'must not be empty';
    return `must have ${exact === true ? 'exactly' : side} ${limit} ${unit}${limit === 1 ? '' : 's'}`;
  }
  if (inclusive === false) return `must be ${side === 'at least' ? 'more' : 'less'} than ${limit}`;
  return `must be ${side} ${limit}`;
}

const units: Readonly<Record<string, string>> = { string: 'character', array: 'item', map: 'item', set: 'item' };

/** No variant matches: lists the allowed ones, or the fault inside the intended one. */
function noneOf(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const first = branches.flatMap(([issue]) => (issue === undefined ? [] : [issue]));
  const inside = first.find(({ code, path }) => code !== 'invalid_type' || path.length > 0);
  if (inside !== undefined) return [...inside.path.map(String), inside.message].join(': ');
  const wanted = first.map((issue) => ('expected' in issue ? (kinds[issue.expected] ?? issue.expected) : ''));
  return wanted.length === 0 ? undefined : `must be ${[...new Set(wanted)].join(' or ')}`;
}

function unknownNames(keys: readonly string[], shape: object): string {
  const [given = ''] = keys;
  const names = Object.keys(shape);
  const meant = meantName(given, names);
  const unknown = `there is no "${quote(given)}"`;
  if (meant !== undefined) return `${unknown}; did you mean ${meant}?`;
  return names.length === 0 ? `${unknown}; give none` : `${unknown}; there are ${names.join(', ')}`;
}
