import { FairleadError } from '../../contract/errors.ts';
import type { Grid } from '../screen/grid.ts';
import { type Theme, themeNamed } from './themes.ts';

/** A part of the rows or columns: up to but without `to`. */
interface Range {
  readonly from: number;
  readonly to: number;
}

export interface PictureOptions {
  /** A built-in theme, or its name. */
  readonly theme?: string | Theme | undefined;
  /** Pixels to a point: 1, 2, 3 or 4. */
  readonly scale?: number | undefined;
  /** Where no scale is given: 1 if a picture of scale 2 would be wider than so many pixels. */
  readonly widest?: number | undefined;
  /** Draw a window frame with three buttons. */
  readonly chrome?: boolean | undefined;
  /** Shown in the frame. */
  readonly title?: string | undefined;
  /** One font or several, by comma, tried before the one that ships with the product. */
  readonly fontFamily?: string | undefined;
  /** Rows and columns count from 0 at the grid's upper left; what goes past its end is left out. */
  readonly fromRow?: number | undefined;
  readonly rowCount?: number | undefined;
  readonly fromCol?: number | undefined;
  readonly colCount?: number | undefined;
}

/** Everything about a picture's size, in pixels. Cells have a fractional width, so columns are kept in tenths of a pixel. */
export interface Geometry {
  readonly theme: Theme;
  readonly scale: number;
  readonly chrome: boolean;
  readonly title: string;
  readonly fontFamily: string;
  readonly rows: Range;
  readonly cols: Range;
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly top: number;
  readonly cellTenths: number;
  readonly cellHeight: number;
}

export const fontPoints = 13;
const cellWidthTenths = 84;
const cellHeightPoints = 17;
const padding = 16;
export const frameTop = 44;
export const frameRadius = 10;
/** What the buttons take of the bar, from the left. */
export const frameButtons = 76;
const maxWidth = 4000;
const maxHeight = 10_000;
const familyPattern = /^[\p{L}\p{N} ._,-]{1,120}$/u;

export function geometryOf(grid: Grid, options: PictureOptions): Geometry {
  const cols = rangeIn(options.fromCol, options.colCount, grid.cols, 'column');
  const scale = options.scale ?? (options.widest === undefined ? 2 : scaleWithin(options.widest, cols));
  if (!Number.isInteger(scale) || scale < 1 || scale > 4) throw bad(`The scale ${scale} is not 1, 2, 3 or 4.`);
  const fontFamily = options.fontFamily ?? '';
  if (fontFamily !== '' && !familyPattern.test(fontFamily)) throw bad('The font family is not a list of font names.');
  const rows = rangeIn(options.fromRow, options.rowCount, Math.max(grid.rows, grid.lines.length), 'row');
  const chrome = options.chrome ?? false;
  const { width, height } = pixelsOf(cols, rows, scale, chrome);
  if (width > maxWidth || height > maxHeight) throw tooLarge({ cols, rows, scale, chrome });
  return {
    theme: typeof options.theme === 'object' ? options.theme : themeNamed(options.theme),
    scale,
    chrome,
    title: options.title ?? '',
    fontFamily,
    rows,
    cols,
    width,
    height,
    left: padding * scale,
    top: topOf(chrome) * scale,
    cellTenths: cellWidthTenths * scale,
    cellHeight: cellHeightPoints * scale,
  };
}

/** Letters of scale 1 are small and can still be read; smaller ones could not. */
const scaleWithin = (widest: number, cols: Range): number => (widthOf(cols, 2) <= widest ? 2 : 1);

const topOf = (chrome: boolean): number => (chrome ? frameTop : padding);

function pixelsOf(cols: Range, rows: Range, scale: number, chrome: boolean): { width: number; height: number } {
  return {
    width: widthOf(cols, scale),
    height: ((rows.to - rows.from) * cellHeightPoints + topOf(chrome) + padding) * scale,
  };
}

const widthOf = (cols: Range, scale: number): number =>
  Math.ceil(((cols.to - cols.from) * cellWidthTenths * scale) / 10) + 2 * padding * scale;

function rangeIn(from: number | undefined, count: number | undefined, all: number, what: string): Range {
  const first = from ?? 0;
  if (!Number.isInteger(first) || first < 0 || first >= all) {
    throw bad(`There is no ${what} ${first}: the screen has ${all}, counted from 0.`);
  }
  const wanted = count ?? all;
  if (!Number.isInteger(wanted) || wanted < 1) throw bad(`${wanted} is not a number of ${what}s.`);
  return { from: first, to: Math.min(all, first + wanted) };
}

function bad(message: string): FairleadError {
  return new FairleadError('invalid_input', message, { hint: 'Correct the option and ask again.' });
}

function tooLarge({ cols, rows, scale, chrome }: Pick<Geometry, 'cols' | 'rows' | 'scale' | 'chrome'>): FairleadError {
  const { width, height } = pixelsOf(cols, rows, scale, chrome);
  const fits = (other: number): boolean => {
    const size = pixelsOf(cols, rows, other, chrome);
    return size.width <= maxWidth && size.height <= maxHeight;
  };
  const smaller = [3, 2, 1].find((other) => other < scale && fits(other));
  return new FairleadError(
    'too_large',
    `The picture would be ${width} × ${height} pixels; the limit is ${maxWidth} × ${maxHeight}.`,
    {
      hint: smaller === undefined ? lessOf(cols, chrome) : `Use scale ${smaller}.`,
      data: { width, height, maxWidth, maxHeight },
    },
  );
}

/** What can be asked for at the smallest scale. */
function lessOf(cols: Range, chrome: boolean): string {
  const columns = Math.floor(((maxWidth - 2 * padding) * 10) / cellWidthTenths);
  const rows = Math.floor((maxHeight - padding - topOf(chrome)) / cellHeightPoints);
  const fewer = `ask for at most ${rows} rows (fromRow, rowCount)`;
  if (cols.to - cols.from <= columns) return `Use scale 1 and ${fewer}, or make the terminal smaller.`;
  return `Make the terminal at most ${columns} columns wide; then use scale 1 and ${fewer}.`;
}
