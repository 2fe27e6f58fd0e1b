import { expect, test } from 'vitest';
import { found, type PaletteItem } from './palette.ts';

const items: PaletteItem[] = [
  { id: 't1', kind: 'terminal', words: 'db-1 maintenance', fact: 'db-1 · ~/runbook' },
  { id: 't2', kind: 'terminal', words: 'shop-api build', fact: 'atlas · ~/src/shop-api' },
  { id: 'p1', kind: 'page', words: 'Agents' },
  { id: 'a1', kind: 'action', words: 'New terminal' },
  { id: 'a2', kind: 'action', words: 'Light theme' },
];
const ids = (text: string, recent: string[] = []): string[] => found(items, text, recent).map(({ id }) => id);

test('every word must fit; a name that begins with it comes first', () => {
  expect(ids('shop bu')).toEqual(['t2']);
  expect(ids('a')[0]).toBe('p1');
  expect(ids('runbook')).toEqual(['t1']);
  expect(ids('nothing like it')).toEqual([]);
});

test('> finds actions only', () => {
  expect(ids('>')).toEqual(['a1', 'a2']);
  expect(ids('> light')).toEqual(['a2']);
});

test('without words what was used last comes first', () => {
  expect(ids('', ['a2', 't2']).slice(0, 2)).toEqual(['a2', 't2']);
  expect(ids('')).toEqual(['t1', 't2', 'p1', 'a1', 'a2']);
});
