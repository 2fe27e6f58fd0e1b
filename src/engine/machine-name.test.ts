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
  expect(isThisMachine(given, own)).toBe(expected);
});
