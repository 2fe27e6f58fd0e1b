/** What a tile would show if there were room, in cells and without its title. */
export interface TileSize {
  readonly cols: number;
  readonly rows: number;
}

export interface SheetBounds {
  /** In cells, of the whole sheet. */
  readonly cols: number;
  readonly rows: number;
  readonly area: number;
}

export interface TilePlace extends TileSize {
  /** Which of the sizes it is. */
  readonly tile: number;
  /** Of the title; the rows of the tile follow below it. */
  readonly x: number;
  readonly y: number;
}

export interface SheetLayout {
  readonly cols: number;
  readonly rows: number;
  /** Tiles beside each other. */
  readonly columns: number;
  /** In the order of the sizes; those that found no room at all are missing. */
  readonly places: readonly TilePlace[];
}

/** Cells between tiles. */
export const sheetGap = { cols: 2, rows: 1 } as const;
const titleRows = 1;
/** Larger screens are rare, and would leave no room for the others. */
const widestTile = 240;
const tallestTile = 80;
/** Less shows nothing worth looking at. */
const narrowestTile = 24;
const lowestTile = 3;
/** Width to height of a sheet, in cells. They are twice as high as wide: about 4:3 in pixels. */
const bestShape = 2.7;

/** Stacks tiles in columns so that as much as possible of each shows; then, so that the sheet looks like a page. */
export function layOut(sizes: readonly TileSize[], bounds: SheetBounds): SheetLayout {
  const wanted = sizes.map(({ cols, rows }) => ({
    cols: Math.min(Math.max(cols, narrowestTile), widestTile),
    rows: Math.min(Math.max(rows, lowestTile), tallestTile),
  }));
  let best: (SheetLayout & { readonly shown: number; readonly shape: number }) | undefined;
  for (let columns = 1; columns <= wanted.length; columns++) {
    const room = bounds.cols - (columns - 1) * sheetGap.cols;
    if (room / columns < narrowestTile) break;
    const layout = inColumns(wanted, columns, room, bounds);
    // A session that does not show at all is worse than all that show less.
    const shown = layout.places.length * 1000 + share(layout.places, wanted);
    const shape = Math.abs(Math.log(layout.cols / layout.rows / bestShape));
    if (!best || shown > best.shown || (shown === best.shown && shape < best.shape)) best = { ...layout, shown, shape };
  }
  const { cols, rows, columns, places } = best ?? { cols: narrowestTile, rows: titleRows, columns: 0, places: [] };
  return { cols, rows, columns, places };
}

interface Stacked extends TileSize {
  readonly tile: number;
  readonly column: number;
  /** How many tiles stand above it. */
  readonly above: number;
}

function inColumns(wanted: readonly TileSize[], columns: number, room: number, bounds: SheetBounds): SheetLayout {
  const all = stacked(wanted, columns);
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...all.filter((tile) => tile.column === column).map(({ cols }) => cols)),
  );
  const width = largest(narrowestTile, widestTile, (level) => sum(widths, (one) => Math.min(one, level)) <= room);
  const cols = sum(widths, (one) => Math.min(one, width)) + (columns - 1) * sheetGap.cols;
  const most = Math.min(bounds.rows, Math.floor(bounds.area / cols)) + sheetGap.rows;
  const kept = all.filter(({ above }) => (above + 1) * (lowestTile + aroundTile) <= most);
  const heightAt = (column: number, level: number): number =>
    sum(
      kept.filter((tile) => tile.column === column),
      ({ rows }) => Math.min(rows, level) + aroundTile,
    );
  const highest = (level: number): number => Math.max(0, ...widths.map((_, column) => heightAt(column, level)));
  const height = largest(lowestTile, tallestTile, (level) => highest(level) <= most);
  const ends = widths.map(() => 0);
  const places = kept.map(({ tile, column, ...size }) => {
    const x = sum(widths.slice(0, column), (one) => Math.min(one, width) + sheetGap.cols);
    const place = {
      x,
      y: ends[column] ?? 0,
      cols: Math.min(size.cols, width),
      rows: Math.min(size.rows, height),
      tile,
    };
    ends[column] = place.y + place.rows + aroundTile;
    return place;
  });
  return { cols, rows: Math.max(titleRows, highest(height) - sheetGap.rows), columns, places };
}

const aroundTile = titleRows + sheetGap.rows;

/** Each tile goes below what is lowest so far: the order stays nearly that of reading, and low tiles leave no holes. */
function stacked(wanted: readonly TileSize[], columns: number): Stacked[] {
  const stacks = Array.from({ length: columns }, () => ({ height: 0, tiles: 0 }));
  return wanted.map((size, tile) => {
    const column = stacks.reduce((best, { height }, at) => (height < (stacks[best]?.height ?? 0) ? at : best), 0);
    const stack = stacks[column] as (typeof stacks)[number];
    const above = stack.tiles;
    stack.height += size.rows + aroundTile;
    stack.tiles += 1;
    return { ...size, tile, column, above };
  });
}

const sum = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((total, one) => total + of(one), 0);

/** The largest number for which it holds; the least where it holds for none. */
function largest(least: number, most: number, holds: (level: number) => boolean): number {
  let level = most;
  while (level > least && !holds(level)) level--;
  return level;
}

/** How much of what is wanted shows, in whole percent: a few columns more or less are not worth an odd shape. */
function share(places: readonly TilePlace[], wanted: readonly TileSize[]): number {
  const cells = (tiles: readonly TileSize[]): number => sum(tiles, ({ cols, rows }) => cols * rows);
  return Math.round((100 * cells(places)) / cells(wanted));
}
