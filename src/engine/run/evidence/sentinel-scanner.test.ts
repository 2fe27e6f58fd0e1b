import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FoundSentinel, SentinelScanner } from './sentinel-scanner.ts';

const token = 'AbCdEfGhIjKl';
const text = `echo\r\n\x1b]7461;${token};s\x07out\x1b[1mput\x1b]7461;other;e;0\x07\x1b]7461;${token};e;12\x07$ `;

function scan(bytes: Buffer, cuts: readonly number[]): FoundSentinel[] {
  const scanner = new SentinelScanner(token);
  const found: FoundSentinel[] = [];
  let at = 0;
  for (const cut of [...cuts, bytes.length].map((place) => Math.min(place, bytes.length)).sort((a, b) => a - b)) {
    found.push(...scanner.scan(bytes.subarray(at, cut), 100 + at));
    at = cut;
  }
  return found;
}

test('however output is cut, the markers of the token are found once, where they stand', () => {
  const bytes = Buffer.from(text);
  const start = text.indexOf('s\x07') + 2;
  const end = text.lastIndexOf('\x1b]7461');
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 10 }), (cuts) => {
      expect(scan(bytes, cuts)).toEqual([
        { kind: 'start', at: 100 + start },
        { kind: 'end', at: 100 + end, status: 12 },
      ]);
    }),
  );
});

test('a marker without an end is not waited for forever', () => {
  const scanner = new SentinelScanner(token);
  scanner.scan(Buffer.from(`\x1b]7461;${token};e;1${'x'.repeat(100)}`), 0);
  expect(scanner.scan(Buffer.from(`\x1b]7461;${token};e;3\x07`), 200)).toEqual([{ kind: 'end', at: 200, status: 3 }]);
});
