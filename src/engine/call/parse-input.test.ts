import { expect, test } from 'vitest';
import { z } from 'zod';
import type { FairleadError } from '../../contract/errors.ts';
import { parseInput } from './parse-input.ts';

const input = z.object({
  text: z.string().min(1),
  cols: z.number().int().min(2).max(1000).optional(),
  mode: z.enum(['screen', 'new']).default('screen'),
  deep: z.object({ on: z.boolean() }).optional(),
  env: z.record(z.string().regex(/^[A-Z]+$/, 'is not a name'), z.string()).optional(),
  keys: z.array(z.string()).min(1).max(2).optional(),
  ref: z.union([z.string(), z.number()]).optional(),
  clear: z.string().nullable().optional(),
  word: z.string().min(3, 'needs three letters').optional(),
});
const strict = z.strictObject({ timeoutMs: z.number().optional() });

function fault(raw: unknown, schema: z.ZodType = input): string {
  try {
    parseInput({ input: schema }, raw);
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
}

test.each([
  [{}, 'text: is required (string)'],
  [{ text: '' }, 'text: must not be empty'],
  [{ text: 7 }, 'text: must be a string, not a number'],
  [{ text: ['x'] }, 'text: must be a string, not a list'],
  [{ text: 'x', cols: 1 }, 'cols: must be at least 2'],
  [{ text: 'x', cols: 1001 }, 'cols: must be at most 1000'],
  [{ text: 'x', cols: 80.5 }, 'cols: must be a whole number'],
  [{ text: 'x', cols: '80' }, 'cols: must be a number, not a string'],
  [{ text: 'x', mode: 'other' }, 'mode: must be one of screen, new'],
  [{ text: 'x', deep: { on: 'yes' } }, 'deep.on: must be true or false, not a string'],
  [{ text: 'x', deep: 'on' }, 'deep: must be an object, not a string'],
  [{ text: 'x', env: { a: '1' } }, 'env.a: is not a name'],
  [{ text: 'x', env: { A: 1 } }, 'env.A: must be a string, not a number'],
  [{ text: 'x', keys: [] }, 'keys: must not be empty'],
  [{ text: 'x', keys: ['a', 'b', 'c'] }, 'keys: must have at most 2 items'],
  [{ text: 'x', ref: true }, 'ref: must be a string or a number'],
  [{ text: 'x', word: 'no' }, 'word: needs three letters'],
  [{ text: 7, cols: 1 }, 'text: must be a string, not a number (and 1 more problem)'],
  [[], 'arguments: must be an object, not a list'],
])('%j: %s', (raw, message) => {
  expect(fault(raw)).toBe(message);
});

test('null is no argument, where it means nothing else', () => {
  expect(parseInput({ input }, { text: 'x', cols: null, mode: null, ref: null, clear: null })).toEqual({
    text: 'x',
    mode: 'screen',
    clear: null,
  });
  expect(fault({ text: null })).toBe('text: is required (string)');
  expect(fault({ text: 'x', cols: null, keys: [] })).toBe('keys: must not be empty');
});

test('a name that is nearly one: said where it is refused, and where the one that was meant is missing', () => {
  expect(fault({ timoutMs: 5 }, strict)).toBe('arguments: there is no "timoutMs"; did you mean timeoutMs?');
  expect(fault({ timeout: 5 }, strict)).toBe('arguments: there is no "timeout"; did you mean timeoutMs?');
  expect(fault({ wrong: 5 }, strict)).toBe('arguments: there is no "wrong"; there are timeoutMs');
  expect(fault({ data: 'x' })).toBe('text: is required (string); there is no "data"');
  expect(fault({ txet: 'x' })).toBe('text: is required (string); there is no "txet"');
  expect(fault({ text: 'x', colums: 80 })).toBe('none');
});

test('a missing argument is a fact, too', () => {
  expect(() => parseInput({ input }, {})).toThrow(
    expect.objectContaining({ code: 'invalid_input', data: { missing: 'text' } }) as FairleadError,
  );
});
