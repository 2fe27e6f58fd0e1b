import fc from 'fast-check';
import { expect, test } from 'vitest';
import { incompleteTail, isContinuation, sequenceLength } from './utf8.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

test('a whole code point has no incomplete tail, a part of one is all tail', () => {
  for (const text of ['a', 'é', '…', '—', '漢', '🙂']) {
    const bytes = encode(`x${text}`);
    expect(incompleteTail(bytes)).toBe(0);
    for (let end = 2; end < bytes.length; end++) expect(incompleteTail(bytes, end)).toBe(end - 1);
  }
});

test('bytes that start no code point are never held back', () => {
  expect(incompleteTail(Uint8Array.of(0x80, 0x80, 0x80))).toBe(0);
  expect(incompleteTail(Uint8Array.of(0xff))).toBe(0);
  expect(incompleteTail(new Uint8Array())).toBe(0);
});

test('cutting anywhere at the reported border splits no code point', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (text, at) => {
      const bytes = encode(text);
      const end = bytes.length === 0 ? 0 : at % (bytes.length + 1);
      const border = end - incompleteTail(bytes, end);
      expect(border === bytes.length || !isContinuation(bytes[border] as number)).toBe(true);
      expect(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, border))).toBe(
        new TextDecoder().decode(bytes.subarray(0, border)),
      );
    }),
  );
});

test('lengths follow the lead byte', () => {
  expect([0x41, 0xc3, 0xe2, 0xf0, 0x80, 0xff].map(sequenceLength)).toEqual([1, 2, 3, 4, 0, 0]);
});
