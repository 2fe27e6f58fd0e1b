import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { fieldsOf, valueOf } from './fields.ts';

const fields = fieldsOf(
  operation({
    title: 'Sample',
    summary: 'One input of each kind.',
    access: 'observe',
    input: z.object({
      patterns: z.array(z.string()),
      env: z.record(z.string(), z.string()).optional(),
      nodes: z.array(z.object({ name: z.string() })).optional(),
      place: z.object({ x: z.number() }).optional(),
    }),
    output: z.object({}),
    run: async () => ({}),
    render: () => '',
  }),
);
const value = (name: string, ...given: string[]): unknown =>
  valueOf(
    fields.find((field) => field.name === name) ?? expect.unreachable(),
    given.length === 1 ? (given[0] ?? '') : given,
  );

describe('lists', () => {
  test('one value a flag, and no other meaning of a single one', () => {
    expect(value('patterns', 'a', 'b')).toEqual(['a', 'b']);
    expect(value('patterns', 're:[a]')).toEqual(['re:[a]']);
    expect(value('patterns', '[a]')).toEqual(['[a]']);
    expect(value('patterns', '[1]')).toEqual(['[1]']);
  });

  test("'' and '[]' are the empty list, JSON is the list it says", () => {
    expect(value('patterns', '')).toEqual([]);
    expect(value('patterns', '[]')).toEqual([]);
    expect(value('patterns', '["rm -rf /", "x"]')).toEqual(['rm -rf /', 'x']);
  });
});

test('pairs: NAME=value often, or an object in JSON', () => {
  expect(value('env', 'A=1', 'B=x=y')).toEqual({ A: '1', B: 'x=y' });
  expect(value('env', '{"A":"1"}')).toEqual({ A: '1' });
  expect(value('env', '')).toEqual({});
  expect(() => value('env', 'A')).toThrow('NAME=value');
});

test('objects and lists of them are JSON', () => {
  expect(value('nodes', '[{"name":"home"}]')).toEqual([{ name: 'home' }]);
  expect(value('place', '{"x":1}')).toEqual({ x: 1 });
  expect(() => value('nodes', 'home')).toThrow('--nodes is JSON');
});
