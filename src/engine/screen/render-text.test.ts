import { expect, test } from 'vitest';
import { renderText } from './render-text.ts';
import { encode } from '../../../test/support/screen.ts';

const size = { cols: 10, rows: 4 };

test("R-TERM-052: a command's output becomes the text it left, long lines in one piece", () => {
  expect(renderText(encode(`\x1b[31m${'a'.repeat(25)}\x1b[0m\r\n10%\r50%\r100%\r\n\r\n`), size)).toBe(
    `${'a'.repeat(25)}\n100%`,
  );
  expect(renderText(new Uint8Array(), size)).toBe('');
});

test('of very long output the end is kept', () => {
  const text = renderText(encode(Array.from({ length: 40_000 }, (_, i) => `${i}\r\n`).join('')), size);
  expect(text.split('\n').length).toBeGreaterThan(9_000);
  expect(text.endsWith('39998\n39999')).toBe(true);
});
