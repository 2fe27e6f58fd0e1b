import { FairleadError } from '../../contract/errors.ts';
import { colsThatFit, type PictureLimits, rowsThatFit } from '../picture/geometry.ts';
import type { Picture } from '../picture/png.ts';
import type { Theme } from '../picture/themes.ts';
import type { Grid } from '../screen/grid.ts';
import { type ContactSheet, contactSheet, type Tile } from './contact-sheet.ts';

/** 1,000 columns, or 2,000 rows of ordinary ones, fit. In memory: a byte a pixel, seven with very many colours. */
const windowLimits: PictureLimits = { width: 8500, height: 34_100, area: 36_000_000 };
/** About 25 sessions of 120 × 30 show whole. With more, less of each shows. */
const sheetLimits: PictureLimits = { width: 4000, height: 10_000, area: 12_000_000 };
/** Up to this size two pixels to a point, so that letters are crisp; clients downscale larger pictures. */
const crisp: PictureLimits = { width: 1300, height: 2600, area: Number.POSITIVE_INFINITY };
/** Points of a cell. */
const cellArea = 8.4 * 17;

const scaleFor = (cols: number, rows: number): number => (rowsThatFit(cols, 2, crisp) >= rows ? 2 : 1);

export interface DrawnSheet extends Picture, Pick<ContactSheet, 'cropped' | 'omitted'> {
  readonly columns: number;
}

/** A picture of all tiles. Its size is bounded: what does not fit is cropped, and at last left out. */
export async function drawSheet(tiles: readonly Tile[], colors: Theme, signal: AbortSignal): Promise<DrawnSheet> {
  const { drawPng } = await import('../picture/png.ts');
  const bounds = { cols: colsThatFit(1, sheetLimits), rows: rowsThatFit(1, 1, sheetLimits) };
  return await withLess(Math.floor(sheetLimits.area / cellArea), async (area) => {
    const { grid, theme: look, layout, cropped, omitted } = contactSheet(tiles, colors, { ...bounds, area });
    const scale = scaleFor(grid.cols, grid.rows);
    const picture = await drawPng(grid, { theme: look, scale, limits: { ...sheetLimits, area: sheetArea } }, signal);
    return { ...picture, cropped, omitted, columns: layout.columns };
  });
}

/** The bound in cells leaves out the padding around the sheet. */
const sheetArea = sheetLimits.area * 1.1;

interface RowsRequest {
  readonly cols: number;
  /** How many rows there are; the newest are shown if not all fit. */
  readonly rows: number;
  /** Reads rows, counted from the first of them. */
  readonly grid: (from: number, count: number) => Grid;
  readonly fromCol?: number | undefined;
  readonly colCount?: number | undefined;
  readonly theme: Theme;
  readonly scale?: number | undefined;
}

export interface DrawnRows extends Picture {
  /** How many of the rows show: the last ones. */
  readonly rows: number;
}

/** A picture of many rows. At most so many are drawn as fit the limits. */
export async function drawRows(request: RowsRequest, signal: AbortSignal): Promise<DrawnRows> {
  const { drawPng } = await import('../picture/png.ts');
  const { cols, theme, fromCol = 0, colCount = cols - fromCol } = request;
  const scale = request.scale ?? scaleFor(colCount, request.rows);
  const most = Math.max(1, Math.min(request.rows, rowsThatFit(colCount, scale, windowLimits)));
  return await withLess(most, async (rows) => {
    const grid = request.grid(request.rows - rows, rows);
    const picture = await drawPng(grid, { theme, scale, fromCol, colCount, limits: windowLimits }, signal);
    return { ...picture, rows };
  });
}

/** Tries with the most, and with half as much again and again while that is too large a picture. */
async function withLess<T>(most: number, draw: (amount: number) => Promise<T>): Promise<T> {
  for (let amount = most; ; amount >>= 1) {
    try {
      return await draw(amount);
    } catch (thrown) {
      if (!(thrown instanceof FairleadError) || thrown.code !== 'too_large' || amount <= 1) throw thrown;
    }
  }
}
