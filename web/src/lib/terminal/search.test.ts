import { expect, test } from 'vitest';
import { nearest, searchLines } from './search.ts';

const plain = { matchCase: false, regex: false };
const lines = [
  { row: 0, text: 'Error: disk full' },
  { row: 1, text: 'a long line that goes on, error at its end' },
  { row: 4, text: 'no errors. error?' },
];

test('finds text in any case, expressions, and says what is none', () => {
  expect(searchLines(lines, 'error', plain, 80).matches).toHaveLength(4);
  expect(searchLines(lines, 'error', { ...plain, matchCase: true }, 80).matches).toHaveLength(3);
  expect(searchLines(lines, 'error?', plain, 80).matches).toEqual([{ row: 4, col: 11, length: 6 }]);
  expect(searchLines(lines, 'err\\w+s', { ...plain, regex: true }, 80).matches).toHaveLength(1);
  expect(searchLines(lines, '(', { ...plain, regex: true }, 80).fault).toBe('This is no regular expression.');
  expect(searchLines(lines, '', plain, 80).matches).toEqual([]);
  expect(searchLines(lines, 'x*', { ...plain, regex: true }, 80).matches).toEqual([]);
});

test('a match in a wrapped line is in the row where it stands', () => {
  expect(searchLines(lines, 'error', plain, 20).matches[1]).toEqual({ row: 2, col: 6, length: 5 });
});

test('10,000 lines take less than 100 ms, and an expression that never ends is cut', () => {
  const many = Array.from({ length: 10_000 }, (_, row) => ({ row, text: `${'lorem ipsum dolor '.repeat(6)}${row}` }));
  const from = performance.now();
  const { matches, isCut } = searchLines(many, 'dolor 9', plain, 120);
  expect(performance.now() - from).toBeLessThan(100);
  expect(matches).toHaveLength(1111);
  expect(isCut).toBe(false);
  let ticks = 0;
  expect(searchLines(many, 'ipsum', plain, 120, () => (ticks += 300))).toMatchObject({ isCut: true });
});

test('begins with the match at or above what is looked at', () => {
  const { matches } = searchLines(lines, 'error', plain, 80);
  expect(nearest(matches, 3)).toBe(1);
  expect(nearest(matches, 99)).toBe(3);
  expect(nearest([], 3)).toBe(-1);
});
