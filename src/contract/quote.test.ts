import { expect, test } from 'vitest';
import { FairleadError } from './errors.ts';
import { visible, visibleFacts } from './quote.ts';

test.each([
  ['plain, café, 日本, ❯', 'plain, café, 日本, ❯'],
  ['\x1b[31m\x07\x9b\x7f', '\\u001b[31m\\u0007\\u009b\\u007f'],
  ['a\u202eb\u2066c\u200fd', 'a\\u202eb\\u2066c\\u200fd'],
  ['a\u200bb\ufeffc\u00add', 'a\\u200bb\\ufeffc\\u00add'],
  ['\u{e0041}\u{e0100}', '\\u{e0041}\\u{e0100}'],
  ['\ud800x\udc00', '\\ud800x\\udc00'],
  ['one\ntwo\r\tthree\u2028four', 'one\\ntwo\\r\\tthree\\u2028four'],
])('%j is shown as %j', (given, shown) => {
  expect(visible(given)).toBe(shown);
  expect(visible(shown), 'once more changes nothing').toBe(shown);
});

test('an error shows what it repeats in message, hint and facts; output among the facts keeps its lines', () => {
  const error = new FairleadError('not_found', 'no \x1b\nx', {
    hint: 'not \u202e',
    data: { 'a\u200b': ['b\x07', { c: 'd\ne\x1b' }], n: 1, none: undefined },
  });
  expect(error.message).toBe('no \\u001b\\nx');
  expect(error.hint).toBe('not \\u202e');
  expect(error.data).toEqual({ 'a\\u200b': ['b\\u0007', { c: 'd\ne\\u001b' }], n: 1, none: undefined });
});

test('what is no plain object stays the same', () => {
  const bytes = new Uint8Array([27]);
  expect(visibleFacts({ bytes }).bytes).toBe(bytes);
});
