import { expect, test } from 'vitest';
import { closest, editDistance } from './closest.ts';

const names = ['type', 'sendKey', 'getContent', 'takeScreenshot', 'createSession', 'destroySession', 'listSessions'];

test('edit distance counts insertions, deletions, substitutions and swaps', () => {
  expect(editDistance('mpc', 'mcp')).toBe(1);
  expect(editDistance('abcd', 'badc')).toBe(2);
  expect(editDistance('', '')).toBe(0);
  expect(editDistance('', 'abc')).toBe(3);
  expect(editDistance('kitten', 'sitting')).toBe(3);
  expect(editDistance('flaw', 'lawn')).toBe(2);
});

test('the nearest names come first, at most three, whatever their case', () => {
  expect(closest('SENDKEYS', names)).toEqual(['sendKey']);
  expect(closest('listSession', names)).toEqual(['listSessions']);
  expect(closest('aaaa', ['aaab', 'aaba', 'abaa', 'baaa'])).toEqual(['aaab', 'aaba', 'abaa']);
});

test('nothing is offered for a name that resembles none', () => {
  expect(closest('frobnicate', names)).toEqual([]);
  // Half of a short word is another word.
  expect(closest('nope', names)).toEqual([]);
  expect(closest('host', ['home'])).toEqual([]);
  expect(closest('X!', ['F1', 'F2'])).toEqual([]);
  expect(closest('x'.repeat(10_000), names)).toEqual([]);
});
