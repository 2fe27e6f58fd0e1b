import { expect, test } from 'vitest';
import { freeName, namedSession } from './lookup.ts';

const session = (number: number, name?: string, isLive = true) => ({ number, id: `id${number}`, name, isLive });

test('a session is its number, its id or its name, in that order', () => {
  const sessions = [session(0, '1'), session(1, 'id0'), session(2, 'build')];
  expect(namedSession('1', sessions).number).toBe(1);
  expect(namedSession('id0', sessions).number).toBe(0);
  expect(namedSession('build', sessions).number).toBe(2);
});

test('of two with one name the one that runs is meant; of two that run, neither', () => {
  const ended = [session(1, 'build', false), session(2, 'build', false)];
  expect(namedSession('build', ended).number).toBe(2);
  expect(namedSession('build', [session(0, 'build'), ...ended]).number).toBe(0);
  expect(() => namedSession('build', [session(0, 'build'), session(3, 'build')])).toThrow(
    'Several sessions are called build: 0, 3.',
  );
});

test('a name that nobody has: what there is', () => {
  expect(() => namedSession('x', [session(0), session(2, 'build')])).toThrow(
    expect.objectContaining({ code: 'terminal_not_found', hint: 'Open: 0, 2 (build).' }),
  );
});

test('a name that is taken, or a number, gets one behind it', () => {
  expect(freeName('build', ['test', undefined])).toBe('build');
  expect(freeName('build', ['build', 'build-2'])).toBe('build-3');
  expect(freeName('7', [])).toBe('7-2');
  expect(freeName('x'.repeat(64), ['x'.repeat(64)])).toBe(`${'x'.repeat(62)}-2`);
});
