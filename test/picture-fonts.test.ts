import { expect, test, vi } from 'vitest';
import { drawPng } from '../src/engine/picture/png.ts';
import { cell, decodePng, gridOf, text, wide } from './picture-support.ts';

const { signal } = new AbortController();

// The drawing library reads this when it is first loaded; test files run in processes of their own.
vi.stubEnv('DISABLE_SYSTEM_FONTS_LOAD', '1');

test('R-TERM-064 without any system font letters, CJK and emoji are drawn; what nobody has is a box of its cells', async () => {
  const grid = gridOf(
    [
      [...text('ab'), ...wide('漢'), ...wide('한'), ...wide('🚀')],
      [cell('\u{13000}'), ...wide('\u{2fffd}')],
    ],
    9,
  );
  const { bytes } = await drawPng(grid, { scale: 1 }, signal);
  const picture = decodePng(bytes);
  const area = (x: number, y: number, width: number): string[] =>
    Array.from({ length: width * 17 }, (_, at) => picture.at(16 + x + (at % width), 16 + y + Math.floor(at / width)));
  const [ground, ink] = ['#1e1e2e', '#cdd6f4'];
  const glyphs = [area(0, 0, 8), area(8, 0, 9), area(17, 0, 17), area(34, 0, 16), area(50, 0, 17)];
  for (const glyph of glyphs) expect(new Set(glyph).size).toBeGreaterThan(4);
  // A box: one pixel inside its cells, eleven high, and nothing but lines.
  for (const [x, width] of [
    [0, 8],
    [8, 17],
  ] as const) {
    const box = area(x, 17, width);
    expect(new Set(box)).toEqual(new Set([ground, ink]));
    expect(box.filter((color) => color === ink).length).toBe(2 * (width - 2) + 2 * 9);
  }
});

test('R-TERM-064 a screen of 120 × 40 takes under 150 ms of processor time, compression included', async () => {
  const rows = Array.from({ length: 40 }, (_, row) =>
    text('The quick brown fox 0123456789 '.repeat(4).slice(0, 120), { fg: row % 8 }),
  );
  const grid = gridOf(rows, 120);
  await drawPng(grid, {}, signal);
  const times: number[] = [];
  for (let run = 0; run < 5; run++) {
    const from = process.cpuUsage();
    await drawPng(grid, {}, signal);
    const { user, system } = process.cpuUsage(from);
    times.push((user + system) / 1000);
  }
  expect(Math.min(...times)).toBeLessThan(150);
});

test('R-TERM-063 a picture at the limit is drawn in turns, and an abort ends it between two', async () => {
  const rows = Array.from({ length: 290 }, (_, row) => text('x'.repeat(230), { fg: row % 256 }));
  const abort = new AbortController();
  const drawing = drawPng(gridOf(rows, 230), {}, abort.signal);
  setImmediate(() => abort.abort());
  await expect(drawing).rejects.toMatchObject({ name: 'AbortError' });
});
