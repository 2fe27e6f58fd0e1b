import { expect, test } from 'vitest';
import { parseByteCount } from './byte-count.ts';

test.each([
  ['0', 0],
  ['65536', 65_536],
  ['512b', 512],
  ['64k', 65_536],
  ['64KB', 65_536],
  [' 64 KiB ', 65_536],
  ['10m', 10_485_760],
  ['1g', 1_073_741_824],
  ['2T', 2_199_023_255_552],
  ['', undefined],
  ['k', undefined],
  ['1.5m', undefined],
  ['10x', undefined],
  ['ten', undefined],
])('%j is %j bytes', (text, bytes) => expect(parseByteCount(text)).toBe(bytes));
