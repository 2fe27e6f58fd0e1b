import { expect, test } from 'vitest';
import { isThisMachine } from './machine-name.ts';

test.each([
  ['build', 'build', true],
  ['BUILD.example.org', 'build', true],
  ['build', 'build.example.org', true],
  ['build.example.com', 'build.example.org', false],
  ['builder', 'build', false],
  ['localhost', 'build', true],
  ['', 'build', true],
  [undefined, 'build', true],
])('R-RPC-028: %s on %s', (given, own, expected) => {
  expect(isThisMachine(given, false, own)).toBe(expected);
});

test('R-RPC-028: a shell of ours keeps the domain that was the machine’s when it began', () => {
  expect(isThisMachine('mac.local', true, 'mac.lan')).toBe(true);
  expect(isThisMachine('far.lan', true, 'mac.lan')).toBe(false);
});
