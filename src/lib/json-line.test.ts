import { expect, test } from 'vitest';
import { jsonLine } from './json-line.ts';

const text = `{
  "lines": 5,
  "nested": {
    "list": [1,
      {"x:y, {": "a\\"b"},
      3]
  },
  "last": true
}
`;

test.each([
  [[], 1],
  [['lines'], 2],
  [['nested'], 3],
  [['nested', 'list'], 4],
  [['nested', 'list', 1], 5],
  [['nested', 'list', 1, 'x:y, {'], 5],
  [['nested', 'list', 2], 6],
  [['last'], 8],
  [['missing'], 1],
  [['nested', 'missing'], 3],
])('the value at %j begins on line %i', (path, line) => {
  expect(jsonLine(text, path)).toBe(line);
});

test('empty objects and lists do not lead astray', () => {
  expect(jsonLine('{"a": {}, "b": [],\n"c": 1}', ['c'])).toBe(2);
});
