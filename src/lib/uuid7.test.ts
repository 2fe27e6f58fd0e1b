import { expect, test } from 'vitest';
import { uuid7 } from './uuid7.ts';

test('time first, version 7, variant of the RFC', () => {
  expect(uuid7(0x0123456789ab, new Uint8Array(10).fill(0xff))).toBe('01234567-89ab-7fff-bfff-ffffffffffff');
  expect(uuid7(1, new Uint8Array(10)) < uuid7(2, new Uint8Array(10))).toBe(true);
});
