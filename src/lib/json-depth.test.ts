import { expect, test } from 'vitest';
import { isDeeper } from './json-depth.ts';

test.each([
  ['{"a":[1]}', 2, false],
  ['{"a":[[1]]}', 2, true],
  ['"[[[["', 0, false],
  ['["\\"[[[", "\\\\"]', 1, false],
  ['[][][]', 1, false],
  [`${'['.repeat(200_000)}`, 200, true],
  ['"unfinished [[', 0, false],
])('%s is deeper than %i: %s', (text, most, deeper) => expect(isDeeper(text, most)).toBe(deeper));
