import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { FairleadError } from '../src/contract/errors.ts';
import { type AnyOperation, type AnyStream, entriesOf, operationId } from '../src/engine/call/operation.ts';
import { chooseToolsets, foldBooks } from '../src/faces/mcp/tools.ts';
import { everyBook, usualBooks } from '../src/operations/index.ts';

const books = await everyBook();
const tools = foldBooks(books, () => Promise.reject(new Error('not called')), { readOnly: false }).list().tools;
const operations = books.flatMap((book) => entriesOf(book.nouns).map(([, op]) => op));
const streams = books.flatMap((book) => entriesOf(book.streams ?? {}).map(([, op]) => op));

describe('every operation', () => {
  test.each([...operations, ...streams].map((op) => [operationId(op), op] as const))(
    '%s says what it does and what it takes',
    (id, op) => {
      expect(id).toMatch(/^[a-z]+\.[a-zA-Z_]+$/);
      expect(op.summary).toMatch(/[.]$/);
      expect(op.title.length).toBeGreaterThan(3);
    },
  );

  test('names and ids are unique', () => {
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(new Set([...operations, ...streams].map(operationId)).size).toBe(operations.length + streams.length);
  });

  test.each(tools.map((tool) => [tool.name, tool] as const))(
    '%s has plain object schemas',
    (_, { inputSchema, outputSchema }) => {
      for (const schema of [inputSchema, outputSchema]) {
        if (schema === undefined) continue;
        expect(schema.type).toBe('object');
        expect(schema).not.toHaveProperty('anyOf');
        expect(schema).not.toHaveProperty('$schema');
      }
    },
  );
});

const root = join(import.meta.dirname, '..', 'src');
const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join(folder, file));

test('an operation that a file of operations/ exports is listed in a book', async () => {
  const isOperation = (value: unknown): value is AnyOperation | AnyStream =>
    typeof value === 'object' && value !== null && 'summary' in value && 'access' in value && 'run' in value;
  const exported: (readonly [string, AnyOperation | AnyStream])[] = [];
  for (const file of sources('operations')) {
    const values = Object.entries((await import(join(root, file))) as Record<string, unknown>);
    for (const [name, value] of values) if (isOperation(value)) exported.push([`${file} ${name}`, value]);
  }
  expect(exported.length).toBeGreaterThan(80);
  expect(exported.filter(([, op]) => ![...operations, ...streams].includes(op)).map(([where]) => where)).toEqual([]);
});

test('faces/ and commands/ name no operation: they fold the catalogue', () => {
  const ids = [...operations, ...streams].map(operationId);
  // `type` and `clear` are names of tools, but also ordinary words.
  const toolNames = tools.map(({ name }) => name).filter((name) => /[._A-Z]/.test(name));
  const names = [...ids, ...toolNames].map((name) => name.replaceAll('.', '\\.'));
  const named = new RegExp(`['"\`][^'"\`\\n]*(?<![\\w.])(?:${names.join('|')})(?![\\w.-])`);
  const withoutComments = (file: string): string =>
    readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const files = [...sources('faces'), ...sources('commands')];
  expect(files.filter((file) => named.test(withoutComments(file)))).toEqual([]);
});

test('no toolset of MCP has what is for the person alone, nor what MCP has methods for', () => {
  const names = books.map(({ name }) => name);
  const personal = books
    .filter(({ forPerson, asResources }) => forPerson || asResources)
    .flatMap(({ nouns, streams: more = {} }) => [
      ...entriesOf(nouns).map(([id]) => id.replace('.', '_')),
      ...entriesOf(more).map(([id]) => id.replace('.', '_')),
    ]);
  expect(personal).toEqual(expect.arrayContaining(['person_answer', 'resource_read', 'resource_listen']));
  for (const wanted of [['all'], ...names.map((name) => [name]), names]) {
    const hidden = wanted.filter((name) =>
      books.some((book) => book.name === name && (book.forPerson || book.asResources)),
    );
    if (hidden.length > 0) {
      expect(() => chooseToolsets(books, wanted)).toThrow(`Unknown toolset: ${hidden.join(', ')}`);
      continue;
    }
    const offered = foldBooks(chooseToolsets(books, wanted), notCalled, { readOnly: false });
    expect(personal.filter((name) => offered.has(name))).toEqual([]);
  }
  expect(personal.filter((name) => tools.some((tool) => tool.name === name))).toEqual([]);
});

const notCalled = (): Promise<never> => Promise.reject(new Error('not called'));

test('an error of any code has words in every book', () => {
  for (const book of books) {
    expect(book.renderError(new FairleadError('internal', 'It broke.', { hint: 'Mend it.' }), 'a_tool')).toContain(
      'It broke.',
    );
  }
});

describe('defaults and bounds stand in descriptions, since some clients show a model nothing else', () => {
  const usual = foldBooks(usualBooks, () => Promise.reject(new Error('not called')), { readOnly: false }).list().tools;
  test.each(usual.map((tool) => [tool.name, tool] as const))('%s', (_, { inputSchema }) => {
    for (const [name, field] of Object.entries(inputSchema.properties ?? {})) {
      const { description = '', default: value, minimum, maximum } = field as z.core.JSONSchema.BaseSchema;
      const preset = typeof value === 'string' ? value : JSON.stringify(value);
      if (preset !== undefined && preset !== 'false')
        expect(description, name).toMatch(new RegExp(`(default |\\()${preset}\\b`));
      for (const bound of [minimum, maximum]) {
        if (bound !== undefined && bound !== 0) expect(description, name).toMatch(new RegExp(`\\b${bound}\\b`));
      }
    }
  });
});

test('the whole default tool list stays under 9,000 tokens, median at most 120 a tool', () => {
  const encoding = new Tiktoken(o200k);
  const usual = foldBooks(usualBooks, () => Promise.reject(new Error('not called')), { readOnly: false });
  // What a client shows a model: name, description and input schema.
  const sizes = usual
    .list()
    .tools.map(
      ({ name, description, inputSchema }) =>
        encoding.encode(JSON.stringify({ name, description, inputSchema })).length,
    );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const median = sizes.toSorted((a, b) => a - b)[Math.floor(sizes.length / 2)] ?? 0;
  expect({ total, median }).toEqual({
    total: expect.toSatisfy((n: number) => n < 9000),
    median: expect.toSatisfy((n: number) => n <= 120),
  });
});
