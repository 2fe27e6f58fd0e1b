import type { CallToolResult } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import type { CallOperation } from '../../engine/call/call.ts';
import { type AnyOperation, type Book, operation } from '../../engine/call/operation.ts';
import type { ToolRequest } from './surface.ts';
import { chooseToolsets, foldBooks } from './tools.ts';

const look = operation({
  title: 'Look',
  summary: 'Look at it.',
  access: 'observe',
  input: z.object({ at: z.string().describe('Where'), depth: z.int().default(3) }),
  output: z.object({ seen: z.array(z.object({ name: z.string() })) }),
  run: () => Promise.resolve({ seen: [] }),
  render: ({ seen }) => `Saw ${seen.length}.`,
});
const remove = operation({
  title: 'Remove',
  summary: 'Remove it.',
  access: 'control',
  mcpName: 'removeIt',
  destructive: true,
  input: z.strictObject({}),
  output: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('gone') }),
    z.object({ kind: z.literal('kept'), why: z.string() }),
  ]),
  run: () => Promise.resolve({ kind: 'gone' as const }),
  render: ({ kind }) => kind,
});
const picture = operation({
  title: 'Picture',
  summary: 'Draw it.',
  access: 'observe',
  pictures: true,
  input: z.object({}),
  output: z.object({ path: z.string() }),
  run: () => Promise.resolve({ path: '/x' }),
  render: () => [{ type: 'image', bytes: new Uint8Array([1, 2, 3]), mimeType: 'image/png' }],
});
const book = (name: string, verbs: Record<string, AnyOperation>): Book => ({
  name,
  summary: name,
  nouns: { thing: verbs },
  renderError: (error) => `[${name}] ${error.message}`,
});
const books = [book('first', { look, remove }), book('second', { picture })];
const runs: CallOperation = (op, raw, context) => op.run({ input: raw, ...context } as never);
const request = {} as ToolRequest;

test('a tool is named by its place or by its reference, and says what it does to the world (R-TERM-003)', () => {
  expect(foldBooks(books, runs, { readOnly: false }).list()).toEqual({
    tools: [
      {
        name: 'thing_look',
        title: 'Look',
        description: 'Look at it.',
        inputSchema: {
          type: 'object',
          properties: {
            at: { type: 'string', description: 'Where' },
            depth: { type: 'integer', default: 3, description: 'default 3' },
          },
          required: ['at'],
        },
        outputSchema: {
          type: 'object',
          properties: {
            seen: {
              type: 'array',
              items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
            },
          },
        },
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      },
      {
        name: 'removeIt',
        title: 'Remove',
        description: 'Remove it.',
        inputSchema: { type: 'object', properties: {}, additionalProperties: false },
        outputSchema: {
          type: 'object',
          oneOf: [
            { type: 'object', properties: { kind: { type: 'string', const: 'gone' } }, required: ['kind'] },
            {
              type: 'object',
              properties: { kind: { type: 'string', const: 'kept' }, why: { type: 'string' } },
              required: ['kind', 'why'],
            },
            { required: ['error'] },
          ],
        },
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
      },
      {
        name: 'thing_picture',
        title: 'Picture',
        description: 'Draw it.',
        inputSchema: { type: 'object', properties: {} },
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      },
    ],
  });
});

test('schemas are made once: every list is the same object', () => {
  const table = foldBooks(books, runs, { readOnly: false });
  expect(table.list()).toBe(table.list());
});

test('pictures go without facts, everything else with them (R-TERM-003)', async () => {
  const table = foldBooks(books, runs, { readOnly: false });
  expect(await table.call('thing_picture', {}, request)).toEqual({
    content: [{ type: 'image', data: 'AQID', mimeType: 'image/png' }],
  });
  expect(await table.call('thing_look', {}, request)).toEqual({
    content: [{ type: 'text', text: 'Saw 0.' }],
    structuredContent: { seen: [] },
  });
});

test('a failure is told in the words of its book, with the facts beside them', async () => {
  const fails: CallOperation = () =>
    Promise.reject(new FairleadError('limit_reached', 'Too many.', { hint: 'Close one.', data: { limit: 5 } }));
  expect(await foldBooks(books, fails, { readOnly: false }).call('thing_look', {}, request)).toEqual({
    isError: true,
    content: [{ type: 'text', text: '[first] Too many.' }],
    structuredContent: { error: { code: 'limit_reached', message: 'Too many.', hint: 'Close one.', limit: 5 } },
  });
});

test('a renderer that throws is an internal error with a number, not a broken connection', async () => {
  const odd: CallOperation = () => Promise.resolve({});
  const logged: string[] = [];
  const table = foldBooks(books, odd, { readOnly: false, log: (line) => logged.push(line) });
  const { structuredContent } = (await table.call('thing_look', {}, request)) as CallToolResult;
  expect(structuredContent).toMatchObject({
    error: { code: 'internal', incident: expect.stringMatching(/^[0-9a-f]{8}$/) },
  });
  const { incident } = (structuredContent as { error: { incident: string } }).error;
  expect(logged).toEqual([expect.stringMatching(new RegExp(`^incident ${incident} in thing_look: TypeError at `))]);
});

test('read-only leaves what observes; the rest is refused and says why', async () => {
  const table = foldBooks(books, runs, { readOnly: true });
  expect(table.list().tools.map(({ name }) => name)).toEqual(['thing_look', 'thing_picture']);
  expect(await table.call('removeIt', {}, request)).toMatchObject({
    isError: true,
    content: [
      { type: 'text', text: '[first] removeIt changes things, and this server was started read-only (--read-only).' },
    ],
  });
});

test('an unknown tool is named back, with close names when there are some (R-TERM-005)', async () => {
  const table = foldBooks(books, runs, { readOnly: false });
  expect(await table.call('removeit', {}, request)).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: 'Error: Unknown tool: "removeit". Did you mean "removeIt"?' }],
  });
  expect(await table.call('frobnicate', {}, request)).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: 'Error: Unknown tool: "frobnicate"' }],
  });
});

test('two tools of one name are a mistake found at start', () => {
  const twice = [book('a', { look }), book('b', { look })];
  expect(() => foldBooks(twice, runs, { readOnly: false })).toThrow('Two tools are called thing_look.');
});

test('toolsets are chosen by name, in catalogue order; an unknown one lists those there are', () => {
  expect(chooseToolsets(books, ['second', 'first']).map(({ name }) => name)).toEqual(['first', 'second']);
  expect(chooseToolsets(books, ['all'])).toEqual(books);
  expect(() => chooseToolsets(books, ['first', 'third'])).toThrow(
    expect.objectContaining({ message: 'Unknown toolset: third.', hint: 'Choose from first, second, all.' }),
  );
});
