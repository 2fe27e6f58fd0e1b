import { expect, test, vi } from 'vitest';
import { drawPng } from '../../../src/engine/picture/png.ts';
import { cell, decodePng, gridOf, text, wide } from '../../support/pictures.ts';

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

/** What Claude Code, Codex, Copilot, spinners, menus and key hints print. */
const agentSigns = '⎿⏵⏴⏶⏷⏸⏹⏺⏭⏮⏯✻✽✳✢✶·❯❮▔▁◐◓◑◒⣾⣽⠋⌘⇧⌥⏎↵⎇⌃⌫⎋⇥✓✔✗✘☐☑☒●○◉◦•▶◀▸►⋮…└├│⎯⏐⎺⎻⎼⎽★✦↻↺⤷↳⮕➜→←≡☰◆◇■□⭘⦿⧉';

test('R-TERM-064 signs of agents and spinners are drawn in the colour of the text, not as boxes', async () => {
  const signs = [...agentSigns];
  // Below each sign what it would be if no font had it: a box, in a cell that begins at the same part of a pixel.
  const grid = gridOf([signs.map((sign) => cell(sign)), signs.map(() => cell('\u{13000}'))], signs.length);
  const picture = decodePng((await drawPng(grid, { scale: 2 }, signal)).bytes);
  const look = (col: number, row: number): string[] => {
    const left = 32 + Math.round(col * 16.8);
    const at = (pixel: number): string => picture.at(left + (pixel % 16), 32 + row * 34 + Math.floor(pixel / 16));
    return Array.from({ length: 16 * 34 }, (_, pixel) => at(pixel));
  };
  for (const [col, sign] of signs.entries()) {
    const drawn = look(col, 0);
    expect(drawn, sign).not.toEqual(look(col, 1));
    expect(new Set(drawn).size, sign).toBeGreaterThan(1);
    for (const color of new Set(drawn)) expect(isBetween(color), `${sign} ${color}`).toBe(true);
  }
});

/** Whether a colour is a mixture of ground and ink. */
function isBetween(color: string): boolean {
  const parts = (hex: string): number[] => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  const [ground, ink] = [parts('#1e1e2e'), parts('#cdd6f4')];
  const shares = parts(color).map((part, at) => (part - (ground[at] ?? 0)) / ((ink[at] ?? 0) - (ground[at] ?? 0)));
  return Math.max(...shares) - Math.min(...shares) < 0.03;
}

test('⎿ is a line down and, on the line that letters stand on, to the right', async () => {
  const picture = decodePng((await drawPng(gridOf([[cell('⎿')]], 1), { scale: 2 }, signal)).bytes);
  const inked = (x: number, y: number): boolean => picture.at(32 + x, 32 + y) !== '#1e1e2e';
  expect([inked(8, 1), inked(8, 20), inked(15, 25), inked(15, 12), inked(2, 25), inked(8, 32)]).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('a player button with an emoji selector stays an emoji', async () => {
  const draw = async (sign: string) => decodePng((await drawPng(gridOf([wide(sign)], 2), { scale: 2 }, signal)).bytes);
  const colors = (picture: Awaited<ReturnType<typeof draw>>): Set<string> =>
    new Set(Array.from({ length: 33 * 34 }, (_, at) => picture.at(32 + (at % 33), 32 + Math.floor(at / 33))));
  expect(colors(await draw('⏸\ufe0f'))).toContain('#3b88c3');
  expect(colors(await draw('⏸'))).not.toContain('#3b88c3');
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
