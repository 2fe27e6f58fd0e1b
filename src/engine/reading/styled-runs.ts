import { type Cell, type Color, defaultColor, type Line, style, trueColor } from '../screen/grid.ts';

/** Neighbouring cells of a row that look alike. */
interface StyledRun {
  readonly col: number;
  readonly len: number;
  /** `#rrggbb`, or the number of the palette entry; absent for the default. */
  readonly fg?: string;
  readonly bg?: string;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly inverse?: boolean;
}

const shown = style.bold | style.italic | style.underline | style.inverse;

/** The parts of a row that are not plain. */
export function runsOf({ cells }: Line): StyledRun[] {
  const runs: StyledRun[] = [];
  let from = 0;
  for (let col = 1; col <= cells.length; col += 1) {
    const first = cells[from];
    const cell = cells[col];
    if (first === undefined || (cell !== undefined && looksLike(first, cell))) continue;
    const look = lookOf(first);
    if (Object.keys(look).length > 0) runs.push({ col: from, len: col - from, ...look });
    from = col;
  }
  return runs;
}

const looksLike = (a: Cell, b: Cell): boolean =>
  a.fg === b.fg && a.bg === b.bg && (a.style & shown) === (b.style & shown);

function lookOf({ fg, bg, style: bits }: Cell): Omit<StyledRun, 'col' | 'len'> {
  return {
    ...(fg === defaultColor ? {} : { fg: colorName(fg) }),
    ...(bg === defaultColor ? {} : { bg: colorName(bg) }),
    ...((bits & style.bold) !== 0 && { bold: true }),
    ...((bits & style.italic) !== 0 && { italic: true }),
    ...((bits & style.underline) !== 0 && { underline: true }),
    ...((bits & style.inverse) !== 0 && { inverse: true }),
  };
}

const colorName = (color: Color): string =>
  color >= trueColor ? `#${(color - trueColor).toString(16).padStart(6, '0')}` : String(color);
