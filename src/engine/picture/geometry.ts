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
  /** Others than those of a picture of one screen. */
  readonly limits?: PictureLimits | undefined;
}

/** In pixels. */
export interface PictureLimits {
  readonly width: number;
  readonly height: number;
  /** Of the whole area. */
  readonly area: number;
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
const usualLimits: PictureLimits = { width: 4000, height: 10_000, area: 40_000_000 };
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
  const limits = options.limits ?? usualLimits;
  if (!isWithin({ width, height }, limits)) throw tooLarge({ cols, rows, scale, chrome }, limits);
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

const isWithin = ({ width, height }: { width: number; height: number }, limits: PictureLimits): boolean =>
  width <= limits.width && height <= limits.height && width * height <= limits.area;

/** The most rows of so many columns that a picture without a frame can show; 0 if the columns alone are too many. */
export function rowsThatFit(cols: number, scale: number, limits: PictureLimits): number {
  const width = widthOf({ from: 0, to: cols }, scale);
  if (width > limits.width) return 0;
  const height = Math.min(limits.height, Math.floor(limits.area / width));
  return Math.max(0, Math.floor((height / scale - 2 * padding) / cellHeightPoints));
}

/** The most columns that a picture can show. */
export const colsThatFit = (scale: number, { width }: Pick<PictureLimits, 'width'>): number =>
  Math.floor(((width / scale - 2 * padding) * 10) / cellWidthTenths);

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

function tooLarge(
  { cols, rows, scale, chrome }: Pick<Geometry, 'cols' | 'rows' | 'scale' | 'chrome'>,
  limits: PictureLimits,
): FairleadError {
  const { width, height } = pixelsOf(cols, rows, scale, chrome);
  const fits = (other: number): boolean => isWithin(pixelsOf(cols, rows, other, chrome), limits);
  const smaller = [3, 2, 1].find((other) => other < scale && fits(other));
  return new FairleadError(
    'too_large',
    `The picture would be ${width} × ${height} pixels; the limit is ${limits.width} × ${limits.height}.`,
    {
      hint: smaller === undefined ? lessOf(cols, chrome, limits) : `Use scale ${smaller}.`,
      data: { width, height, maxWidth: limits.width, maxHeight: limits.height },
    },
  );
}

/** What can be asked for at the smallest scale. */
function lessOf(cols: Range, chrome: boolean, limits: PictureLimits): string {
  const columns = colsThatFit(1, limits);
  const rows = Math.floor((limits.height - padding - topOf(chrome)) / cellHeightPoints);
  const fewer = `ask for at most ${rows} rows (fromRow, rowCount)`;
  if (cols.to - cols.from <= columns) return `Use scale 1 and ${fewer}, or make the terminal smaller.`;
  return `Make the terminal at most ${columns} columns wide; then use scale 1 and ${fewer}.`;
}
