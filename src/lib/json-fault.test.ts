import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFault } from './json-fault.ts';

test.each([
  ['{\n  "a": 1,\n}', 3],
  ['{\n  "a": [1,\n 2,],\n "b": 2 }', 3],
  ['{\n  "a": 1\n  "b": 2\n}', 3],
  ['{\n  a: 1\n}', 2],
  ['{\n  "a": 01\n}', 2],
  ["{\n\n  'a': 1 }", 3],
  ['{\n  "a": "x\n}', 2],
  ['{ "a": 1', 1],
  ['', 1],
  ['{}\n\nx', 3],
])('it tells the line: %j', (json, line) => expect(jsonFault(json)).toBe(line));

test('it finds a fault exactly where JSON.parse does', () => {
  const parses = (json: string): boolean => {
    try {
      JSON.parse(json);
      return true;
    } catch {
      return false;
    }
  };
  const cut = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', ']', '\n', '1', '\\', 'é', '-'));
  fc.assert(
    fc.property(cut, ([json, where, put]) => {
      const at = where % (json.length + 1);
      const edited = json.slice(0, at) + put + json.slice(at + (where % 2));
      expect(jsonFault(edited) === undefined).toBe(parses(edited));
    }),
    { numRuns: 2000 },
  );
});
