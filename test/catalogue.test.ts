import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { describe, expect, test } from 'vitest';
import { FairleadError } from '../src/contract/errors.ts';
import { operationId } from '../src/engine/operation.ts';
import { foldBooks } from '../src/faces/mcp/tools.ts';
import { allBooks, usualBooks } from '../src/operations/index.ts';

const books = await allBooks();
const tools = foldBooks(books, () => Promise.reject(new Error('not called')), { readOnly: false }).list().tools;
const operations = books.flatMap((book) => Object.values(book.nouns).flatMap((verbs) => Object.values(verbs)));

describe('every operation', () => {
  test.each(operations.map((op) => [operationId(op), op] as const))(
    '%s says what it does and what it takes',
    (id, op) => {
      expect(id).toMatch(/^[a-z]+\.[a-zA-Z_]+$/);
      expect(op.summary).toMatch(/[.]$/);
      expect(op.title.length).toBeGreaterThan(3);
    },
  );

  test('names and ids are unique', () => {
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(new Set(operations.map(operationId)).size).toBe(operations.length);
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

test('an error of any code has words in every book', () => {
  for (const book of books) {
    expect(book.renderError(new FairleadError('internal', 'It broke.', { hint: 'Mend it.' }), 'a_tool')).toContain(
      'It broke.',
    );
  }
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
