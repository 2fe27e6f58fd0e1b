import { expect, test } from 'vitest';
import type { Access } from '../../src/engine/call/operation.ts';
import { entriesOf } from '../../src/engine/call/operation.ts';
import { capabilities, capabilitiesOf } from '../../src/operations/capabilities.ts';
import { everyBook } from '../../src/operations/index.ts';

test('every capability is an operation of the catalogue', async () => {
  const books = await everyBook();
  const ids = new Set(books.flatMap(({ nouns }) => entriesOf(nouns).map(([id]) => id)));
  expect(Object.values(capabilities).filter((id) => !ids.has(id))).toEqual([]);
  expect(capabilitiesOf(books, () => true)).toEqual(Object.keys(capabilities));
});

test('what a caller may not do, and what a host does not have, is absent', async () => {
  const books = await everyBook();
  const reads = capabilitiesOf(books, (access: Access) => access === 'observe');
  expect(reads).toContain('machines.list');
  expect(reads).not.toContain('terminals.open');
  expect(reads).not.toContain('logins.end');
  // An instance pairs no machines, and has neither members nor tokens: those come with a hub.
  const all = capabilitiesOf(books, () => true).join(' ');
  expect(all).not.toMatch(/pair|members|tokens/);
  expect(capabilitiesOf([], () => true)).toEqual([]);
});
