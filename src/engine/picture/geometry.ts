import { FairleadError } from '../../contract/errors.ts';
import type { Grid } from '../screen/grid.ts';
import { type Theme, themeNamed } from './themes.ts';

/** A part of the rows or columns: up to but without `to`. */
interface Range {
  readonly from: number;
  readonly to: number;
}

export interface PictureOptions {
  /** A built-in theme's name, or a theme that went through `parseTheme`. */
  readonly theme?: string | Theme | undefined;
  /** Pixels to a point: 1, 2, 3 or 4. */
  readonly scale?: number | undefined;
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
  const scale = options.scale ?? 2;
  if (!Number.isInteger(scale) || scale < 1 || scale > 4) throw bad(`The scale ${scale} is not 1, 2, 3 or 4.`);
  const fontFamily = options.fontFamily ?? '';
  if (fontFamily !== '' && !familyPattern.test(fontFamily)) throw bad('The font family is not a list of font names.');
  const rows = rangeIn(options.fromRow, options.rowCount, Math.max(grid.rows, grid.lines.length), 'row');
  const cols = rangeIn(options.fromCol, options.colCount, grid.cols, 'column');
  const chrome = options.chrome ?? false;
  const top = (chrome ? frameTop : padding) * scale;
  const cellTenths = cellWidthTenths * scale;
  const cellHeight = cellHeightPoints * scale;
  const width = Math.ceil(((cols.to - cols.from) * cellTenths) / 10) + 2 * padding * scale;
  const height = (rows.to - rows.from) * cellHeight + top + padding * scale;
  if (width > maxWidth || height > maxHeight) throw tooLarge(width, height, scale);
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
    top,
    cellTenths,
    cellHeight,
  };
}

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

function tooLarge(width: number, height: number, scale: number): FairleadError {
  const wide = width > maxWidth;
  const what = wide ? 'fewer columns' : 'fewer rows';
  return new FairleadError(
    'too_large',
    `The picture would be ${width} × ${height} pixels; the limit is ${maxWidth} × ${maxHeight}.`,
    {
      hint: scale > 1 ? `Use a scale below ${scale}, or ${what}.` : `Ask for ${what}.`,
      data: { width, height, maxWidth, maxHeight },
    },
  );
}
