import { expect, test } from 'vitest';
import { layOut, type SheetLayout, sheetGap, type TileSize } from './sheet-layout.ts';

const bounds = { cols: 472, rows: 586, area: 84_000 };
const many = (count: number, size: TileSize): TileSize[] => Array.from({ length: count }, () => size);

function expectApart({ cols, rows, places }: SheetLayout): void {
  for (const [at, one] of places.entries()) {
    expect(one.x + one.cols).toBeLessThanOrEqual(cols);
    expect(one.y + 1 + one.rows).toBeLessThanOrEqual(rows);
    for (const other of places.slice(at + 1)) {
      const beside = one.x + one.cols + sheetGap.cols <= other.x || other.x + other.cols + sheetGap.cols <= one.x;
      const above =
        one.y + 1 + one.rows + sheetGap.rows <= other.y || other.y + 1 + other.rows + sheetGap.rows <= one.y;
      if (!beside && !above) expect([one, other]).toBe('apart');
    }
  }
}

test('20 sessions of 120 × 30 show whole (R-RPC-121)', () => {
  const layout = layOut(many(20, { cols: 120, rows: 30 }), bounds);
  expect(layout.columns).toBe(3);
  expect(layout.places).toHaveLength(20);
  expect(layout.places.every(({ cols, rows }) => cols === 120 && rows === 30)).toBe(true);
  expectApart(layout);
});

test('however many and however large, the sheet stays within its bounds and no tile lies on another', () => {
  let seed = 7;
  const random = (most: number): number => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return 1 + (seed % most);
  };
  for (let round = 0; round < 60; round++) {
    const sizes = Array.from({ length: random(150) }, () => ({ cols: 1 + random(999), rows: random(1000) }));
    const layout = layOut(sizes, bounds);
    expect(layout.cols).toBeLessThanOrEqual(bounds.cols);
    expect(layout.rows).toBeLessThanOrEqual(bounds.rows);
    expect(layout.cols * layout.rows).toBeLessThanOrEqual(bounds.area);
    expectApart(layout);
    expect(layout.places.map(({ tile }) => tile)).toEqual(sizes.map((_, tile) => tile));
  }
});

test('100 sessions of 1000 × 1000 all have a place, and more than fit are left out', () => {
  expect(layOut(many(100, { cols: 1000, rows: 1000 }), bounds).places).toHaveLength(100);
  const crowd = layOut(many(5000, { cols: 1000, rows: 1000 }), bounds);
  expect(crowd.places.length).toBeGreaterThan(400);
  expect(crowd.places.length).toBeLessThan(5000);
  expect(crowd.cols * crowd.rows).toBeLessThanOrEqual(bounds.area);
});

test('low tiles stand above each other beside a high one, and leave no holes', () => {
  const layout = layOut([{ cols: 80, rows: 24 }, ...many(8, { cols: 80, rows: 4 })], { ...bounds, cols: 170 });
  expect(layout.columns).toBe(2);
  // In rows of two it would be 49.
  expect(layout.rows).toBeLessThan(42);
});

test('no session: an empty sheet', () => {
  expect(layOut([], bounds)).toMatchObject({ columns: 0, places: [] });
});
