import { mix, paletteOf } from '../picture/color.ts';
import { isSquare } from '../picture/glyphs/fonts.ts';
import type { Theme } from '../picture/themes.ts';
import { type Cell, defaultColor, type Grid, style, trueColor } from '../screen/grid.ts';
import { layOut, type SheetBounds, type SheetLayout } from './sheet-layout.ts';

/** A session on the sheet. */
export interface Tile {
  /** Left in the bar above it, such as `3 vim notes.txt`. */
  readonly title: string;
  /** Right in the same bar, if there is room. */
  readonly facts: string;
  readonly cols: number;
  /** From the top of the screen to the last row with something on it. */
  readonly rows: number;
  /** Its screen from row `from` on, counted from the top of the screen. */
  readonly grid: (from: number, rows: number) => Grid;
  /** Show the end of the screen, not its beginning, where not all of it fits. */
  readonly fromEnd: boolean;
}

export interface ContactSheet {
  readonly grid: Grid;
  /** What to draw it with: blank parts of the sheet are no blank parts of a screen. */
  readonly theme: Theme;
  readonly layout: SheetLayout;
  /** Tiles of which a part shows. */
  readonly cropped: number;
  /** Tiles for which there was no room. */
  readonly omitted: number;
}

/** Every tile below a bar with its title, as one grid: whatever draws screens draws the sheet. */
export function contactSheet(tiles: readonly Tile[], theme: Theme, bounds: SheetBounds): ContactSheet {
  const look = looksOf(theme);
  const layout = layOut(tiles, bounds);
  const lines = Array.from({ length: layout.rows }, () => ({
    cells: Array.from({ length: layout.cols }, () => blank),
    wrapped: false,
  }));
  let cropped = 0;
  layout.places.forEach(({ tile: at, x, y, cols, rows }) => {
    const tile = tiles[at] as Tile;
    const shown = Math.min(rows, tile.rows);
    const from = tile.fromEnd ? tile.rows - shown : 0;
    const isCropped = shown < tile.rows || cols < tile.cols;
    if (isCropped) cropped += 1;
    // The bar says of a small screen what there is, and of a large one that this is a part.
    const facts = isCropped ? `part of ${tile.facts}` : tile.facts;
    place(lines[y]?.cells, x, titleBar(tile.title, facts, cols, look));
    const { lines: screen, cursor } = tile.grid(from, shown);
    for (let row = 0; row < rows; row++) {
      const cells = (screen[row]?.cells ?? []).slice(0, cols);
      if (cursor.visible && cursor.y === row) showCursor(cells, cursor.x, look);
      place(lines[y + 1 + row]?.cells, x, padded(cutWide(cells), cols).map(look.onScreen));
    }
  });
  const grid: Grid = { cols: layout.cols, rows: layout.rows, lines, cursor: hiddenCursor };
  return {
    grid,
    theme: { ...theme, background: look.desk },
    layout,
    cropped,
    omitted: tiles.length - layout.places.length,
  };
}

const hiddenCursor = { x: 0, y: 0, visible: false, shape: 'block' } as const;
const blank: Cell = { text: '', width: 1, fg: defaultColor, bg: defaultColor, style: 0 };

interface Looks {
  /** Between the tiles, as `#rrggbb`. */
  readonly desk: string;
  readonly onScreen: (cell: Cell) => Cell;
  readonly bar: Cell;
  readonly title: Cell;
  readonly facts: Cell;
  readonly cursor: Pick<Cell, 'fg' | 'bg'>;
}

function looksOf(theme: Theme): Looks {
  const { foreground, background, cursor } = paletteOf(theme);
  const shade = (amount: number): number => trueColor + mix(foreground, background, amount);
  const bar = { ...blank, bg: shade(0.22) };
  return {
    desk: `#${mix(foreground, background, 0.07).toString(16).padStart(6, '0')}`,
    onScreen: (cell) => (cell.bg === defaultColor ? { ...cell, bg: trueColor + background } : cell),
    bar,
    title: { ...bar, fg: shade(1), style: style.bold },
    facts: { ...bar, fg: shade(0.72) },
    cursor: { fg: trueColor + background, bg: trueColor + cursor },
  };
}

/** The facts give way to the title, the end of a title to the bar. */
function titleBar(title: string, facts: string, cols: number, look: Looks): Cell[] {
  const inner = cols - 2;
  const right = cellsOf(facts, look.facts);
  const hasRoom = inner - right.length - 2 >= Math.min(cellsOf(title, look.title).length, Math.floor(inner / 2));
  const room = hasRoom ? inner - right.length - 2 : inner;
  const left = padded(cutTo(title, room, look.title), inner - (hasRoom ? right.length : 0), look.bar);
  return [look.bar, ...left, ...(hasRoom ? right : []), look.bar];
}

function cutTo(text: string, room: number, look: Cell): Cell[] {
  const cells = cellsOf(text, look);
  if (cells.length <= room) return cells;
  const left = cells.slice(0, Math.max(0, room - 1));
  const end = left.findLastIndex(({ text: sign, width }, at) => sign !== ' ' && (width !== 2 || at + 1 < left.length));
  return [...left.slice(0, end + 1), { ...look, text: '…' }];
}

function cellsOf(text: string, look: Cell): Cell[] {
  const cells: Cell[] = [];
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, 500))) {
    if (isSquare(segment)) cells.push({ ...look, text: segment, width: 2 }, { ...look, text: '', width: 0 });
    else cells.push({ ...look, text: segment });
  }
  return cells;
}

/** A wide character of which only the first half is left becomes a blank. */
function cutWide(cells: Cell[]): Cell[] {
  const last = cells.at(-1);
  return last?.width === 2 ? [...cells.slice(0, -1), { ...last, text: '', width: 1 }] : cells;
}

const padded = (cells: readonly Cell[], cols: number, filler: Cell = blank): Cell[] => [
  ...cells,
  ...Array.from({ length: Math.max(0, cols - cells.length) }, () => filler),
];

function showCursor(cells: Cell[], x: number, { cursor }: Looks): void {
  let at = Math.min(x, cells.length - 1);
  if (cells[at]?.width === 0 && at > 0) at--;
  const under = cells[at];
  if (under === undefined) return;
  // The colours of a cursor, not those of the text turned round.
  const lit = (cell: Cell): Cell => ({ ...cell, ...cursor, style: cell.style & ~style.inverse });
  cells[at] = lit(under);
  const second = cells[at + 1];
  if (under.width === 2 && second) cells[at + 1] = lit(second);
}

function place(row: Cell[] | undefined, x: number, cells: readonly Cell[]): void {
  if (row) cells.forEach((cell, at) => (row[x + at] = cell));
}
