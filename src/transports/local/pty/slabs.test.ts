import { expect, test } from 'vitest';
import { copied, recycle, SLAB } from './slabs.ts';

const chunk = (letter: string, length = 5000): Uint8Array => copied(Buffer.alloc(length, letter));

test('memory that is given back is used again', () => {
  const first = chunk('a');
  recycle(first);
  chunk('b');
  const third = chunk('c');
  expect(third.buffer).toBe(first.buffer);
});

test('memory of others is left alone, whatever its size', () => {
  const read = new Uint8Array(SLAB).fill(1);
  recycle(read.subarray(0, 6000));
  for (let i = 0; i < 3; i++) chunk('d');
  expect(read.every((byte) => byte === 1)).toBe(true);
});

test('memory given back twice is used once', () => {
  const first = chunk('e');
  recycle(first);
  recycle(first);
  const [, second, third] = [chunk('f'), chunk('g'), chunk('h')];
  expect(second?.buffer).not.toBe(third?.buffer);
});
