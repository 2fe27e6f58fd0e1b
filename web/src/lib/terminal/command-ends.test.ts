import { expect, test } from 'vitest';
import { CommandEnds } from './command-ends.ts';

test('each command that ends while the page is open is told once', () => {
  const ends = new CommandEnds();
  expect(ends.see(undefined)).toBeUndefined();
  expect(ends.see({ id: 1, command: 'make test' })).toBeUndefined();
  expect(ends.see({ id: 1, command: 'make test', endedAt: 5, exitCode: 0 })).toBe('Done: make test.');
  expect(ends.see({ id: 1, command: 'make test', endedAt: 5, exitCode: 0 })).toBeUndefined();
  expect(ends.see({ id: 2, command: 'false', endedAt: 6, exitCode: 1 })).toBe('Failed: false, exit 1.');
  expect(ends.see({ id: 3, endedAt: 7 })).toBe('Ended: a command.');
});

test('what had ended before the page was opened is no news', () => {
  const ends = new CommandEnds();
  expect(ends.see({ id: 7, command: 'ls', endedAt: 5, exitCode: 0 })).toBeUndefined();
  expect(ends.see({ id: 8, command: 'ls' })).toBeUndefined();
  expect(ends.see({ id: 8, command: 'ls', endedAt: 9, exitCode: 0 })).toBe('Done: ls.');
});
