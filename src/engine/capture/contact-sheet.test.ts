import { expect, test } from 'vitest';
import { cell, decodePng, gridOf, text, wide } from '../../../test/support/pictures.ts';
import { standard, themeNamed } from '../picture/themes.ts';
import type { Cell, Grid } from '../screen/grid.ts';
import { contactSheet, type Tile } from './contact-sheet.ts';
import { drawRows, drawSheet } from './draw.ts';

const bounds = { cols: 472, rows: 586, area: 84_000 };
const { signal } = new AbortController();

function tile(title: string, rows: readonly (readonly Cell[])[], cols = 30, more: Partial<Tile> = {}): Tile {
  const grid = (from: number, count: number): Grid => gridOf(rows.slice(from, from + count), cols);
  return { title, facts: `${cols}×${rows.length}`, cols, rows: rows.length, fromEnd: true, grid, ...more };
}

const shown = ({ lines }: Grid, row: number): string =>
  (lines[row]?.cells ?? []).map((one) => (one.text === '' && one.width !== 0 ? ' ' : one.text)).join('');

test('each tile stands below a bar with its title and its facts', () => {
  const { grid, cropped } = contactSheet([tile('1  one', [text('hello'), [], text('end')])], standard, bounds);
  expect(shown(grid, 0)).toBe(' 1  one                  30×3 ');
  expect(shown(grid, 1).trimEnd()).toBe('hello');
  expect(shown(grid, 3).trimEnd()).toBe('end');
  expect(cropped).toBe(0);
});

test.each([
  [
    'a long title is cut with a sign, and the facts stay',
    'a title that is much longer than that',
    ' a title that is much…',
  ],
  ['between characters of two cells', '日本語のとても長いタイトルはここで切られる', ' 日本語のとても長いタ…'],
  ['between emoji', `${'🙂'.repeat(30)}`, ' 🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂…'],
])('%s', (_what, title, left) => {
  const { grid } = contactSheet([tile(title, [[]], 30)], standard, bounds);
  expect(grid.lines[0]?.cells).toHaveLength(30);
  expect(shown(grid, 0).replace(/ +30×1 $/, '')).toBe(left);
  expect(shown(grid, 0)).toContain('30×1');
});

test('a bar without room for the facts gives it to the title', () => {
  const { grid } = contactSheet(
    [tile('a title of 22 columns.', [[]], 24, { facts: '1000×1000 running' })],
    standard,
    bounds,
  );
  expect(shown(grid, 0)).toBe(' a title of 22 columns. ');
});

test('where not all of it fits, a shell shows its end and a full-screen program its beginning', () => {
  const rows = Array.from({ length: 40 }, (_, at) => text(`row ${at}`));
  const small = { ...bounds, rows: 11 };
  const end = contactSheet([tile('t', rows)], standard, small);
  expect(shown(end.grid, 10).trimEnd()).toBe('row 39');
  expect(shown(end.grid, 0)).toContain('part of 30×40');
  expect(end.cropped).toBe(1);
  const start = contactSheet([tile('t', rows, 30, { fromEnd: false })], standard, small);
  expect(shown(start.grid, 1).trimEnd()).toBe('row 0');
});

test('a wide character at the edge of a cropped tile is not cut in half', () => {
  const row = Array.from({ length: 100 }, () => wide('漢')).flat();
  const { grid } = contactSheet([tile('t', [row], 200)], standard, { ...bounds, cols: 131 });
  const cells = grid.lines[1]?.cells ?? [];
  expect(cells.slice(-3).map(({ text: one, width }) => `${one}${width}`)).toEqual(['漢2', '0', '1']);
});

test('the cursor shows as a block in its colour, on both halves of a wide character', () => {
  const rows = [wide('漢')];
  const grid = (): Grid => gridOf(rows, 30, { x: 1, y: 0, visible: true });
  const sheet = contactSheet([tile('t', rows, 30, { grid })], standard, bounds);
  const [first, second, third] = sheet.grid.lines[1]?.cells ?? [];
  expect([first?.bg, second?.bg]).toEqual([0x1000000 + 0xf5e0dc, 0x1000000 + 0xf5e0dc]);
  expect(third?.bg).toBe(0x1000000 + 0x1e1e2e);
});

test('the same sessions give the same bytes, and their pixels are theirs (R-RPC-120)', async () => {
  const tiles = [
    tile('1  漢字 🙂', [text('plain'), [...wide('漢'), ...wide('🙂')], text('red', { fg: 1 })]),
    tile('2', [Array.from({ length: 30 }, () => cell('', { bg: 2 }))]),
  ];
  const one = await drawSheet(tiles, standard, signal);
  const two = await drawSheet(tiles, standard, signal);
  expect(Buffer.from(two.bytes).equals(Buffer.from(one.bytes))).toBe(true);
  const picture = decodePng(one.bytes);
  // Two pixels to a point: the desk around, the bar of the first tile, and the green row of the second below it.
  expect(picture.at(0, 0)).toBe('#2a2b3c');
  expect(picture.at(33, 33)).toBe('#45465a');
  expect(picture.at(40, 32 + 6 * 34 + 17)).toBe('#a6e3a1');
  expect((await drawSheet(tiles, themeNamed('classic'), signal)).bytes).not.toEqual(one.bytes);
});

test('100 sessions of 1000 × 1000, each cell of another colour: bounded pixels and memory', async () => {
  const colourful = (from: number, count: number): Grid =>
    gridOf(
      Array.from({ length: count }, (_, y) =>
        Array.from({ length: 1000 }, (_cell, x) =>
          cell('#', { fg: 0x1000000 + (from + y) * 1000 + x, bg: 0x1000000 + x * 999 }),
        ),
      ),
      1000,
    );
  const tiles = Array.from({ length: 100 }, (_, at) => tile(String(at), [], 1000, { rows: 1000, grid: colourful }));
  const before = process.memoryUsage().arrayBuffers;
  const { width, height, cropped, omitted } = await drawSheet(tiles, standard, signal);
  expect(width * height).toBeLessThanOrEqual(13_200_000);
  expect({ cropped, omitted }).toEqual({ cropped: 100, omitted: 0 });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200 << 20);
}, 60_000);

test('rows beyond what a picture holds are left out at the beginning, and counted', async () => {
  const asked: [number, number][] = [];
  const grid = (from: number, count: number): Grid => {
    asked.push([from, count]);
    return gridOf(
      Array.from({ length: count }, () => []),
      1000,
    );
  };
  const { rows, width, height } = await drawRows({ cols: 1000, rows: 1000, grid, theme: standard, scale: 1 }, signal);
  expect(rows).toBeLessThan(1000);
  expect(rows).toBeGreaterThan(200);
  expect(width * height).toBeLessThanOrEqual(36_000_000);
  expect(asked).toEqual([[1000 - rows, rows]]);
  const tall = await drawRows(
    {
      cols: 120,
      rows: 2000,
      theme: standard,
      grid: (from, count) =>
        gridOf(
          Array.from({ length: count }, () => text(`${from}`)),
          120,
        ),
    },
    signal,
  );
  expect(tall).toMatchObject({ rows: 2000, width: 1040, height: 34_032 });
}, 60_000);

test('a tall picture of very many colours shows fewer rows rather than taking hundreds of megabytes', async () => {
  const grid = (from: number, count: number): Grid =>
    gridOf(
      Array.from({ length: count }, (_, y) =>
        Array.from({ length: 120 }, (_cell, x) => cell('', { bg: 0x1000000 + ((from + y) * 120 + x) * 61 })),
      ),
      120,
    );
  const { rows, width, height } = await drawRows({ cols: 120, rows: 2000, grid, theme: standard, scale: 1 }, signal);
  expect(rows).toBeLessThan(2000);
  expect(width * height).toBeLessThanOrEqual(16_000_000);
}, 60_000);
