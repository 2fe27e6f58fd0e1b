import { type Cell, type Color, defaultColor, type Grid, type Line, style, trueColor, underlineKind } from './grid.ts';

/** What a character looks like, apart from which one it is. */
export type Pen = Pick<Cell, 'fg' | 'bg' | 'style' | 'underlineColor'>;

export const defaultPen: Pen = { fg: defaultColor, bg: defaultColor, style: 0 };

/** In the order they are written: bit, code that sets it, code that clears it. */
const styles: readonly (readonly [bit: number, on: number, off: number])[] = [
  [style.bold, 1, 22],
  [style.dim, 2, 22],
  [style.italic, 3, 23],
  [style.underline, 4, 24],
  [style.blink, 5, 25],
  [style.inverse, 7, 27],
  [style.invisible, 8, 28],
  [style.strike, 9, 29],
  [style.overline, 53, 55],
];
const boldOrDim = style.bold | style.dim;

/** The rows as text with colours and styles. Fed to an emulator of the same size it shows the same cells. */
export function toAnsi(grid: Grid): string {
  const lines = grid.lines.map(lineToAnsi);
  while (lines.at(-1) === '') lines.pop();
  return lines.join('\r\n');
}

/** One row, trailing default blanks dropped, with the default pen at both ends. */
function lineToAnsi(line: Line): string {
  return paint(line.cells.slice(0, usedCells(line.cells))).text;
}

/** The cells written from the default pen on; the pen is back at its default after them. */
export function paint(cells: readonly Cell[]): { readonly text: string } {
  let text = '';
  let pen = defaultPen;
  for (const cell of cells) {
    // The second half of a wide character comes with its first.
    if (cell.width === 0) continue;
    text += penChange(pen, cell) + (cell.text === '' ? ' ' : cell.text);
    pen = cell;
  }
  return { text: text + penChange(pen, defaultPen) };
}

/** How many cells remain when trailing blanks in the default pen are left out. */
export function usedCells(cells: readonly Cell[]): number {
  let used = cells.length;
  while (used > 0 && isDefaultBlank(cells[used - 1] as Cell)) used--;
  return used;
}

const isDefaultBlank = (cell: Cell): boolean =>
  cell.width === 1 && (cell.text === '' || cell.text === ' ') && samePen(cell, defaultPen);

const samePen = (a: Pen, b: Pen): boolean =>
  a.fg === b.fg && a.bg === b.bg && a.style === b.style && a.underlineColor === b.underlineColor;

/** The shortest sequence that turns one pen into the other; '' when they are the same. */
export function penChange(from: Pen, to: Pen): string {
  if (samePen(from, to)) return '';
  if (samePen(to, defaultPen)) return '\x1b[0m';
  const codes: (number | string)[] = [];
  const cleared = from.style & ~to.style;
  let added = to.style & ~from.style;
  // One code clears both bold and dim: what was to stay of them is set again.
  if (cleared & boldOrDim) added |= to.style & boldOrDim;
  const kind = underlineKind(to.style);
  if (kind !== underlineKind(from.style)) added |= to.style & style.underline;
  for (const [bit, , off] of styles) if (cleared & bit && codes.at(-1) !== off) codes.push(off);
  for (const [bit, on] of styles) if (added & bit) codes.push(bit === style.underline && kind > 0 ? `4:${kind}` : on);
  if (from.fg !== to.fg) codes.push(colorCode(to.fg, 30, 90));
  if (from.bg !== to.bg) codes.push(colorCode(to.bg, 40, 100));
  if (from.underlineColor !== to.underlineColor) codes.push(underlineCode(to.underlineColor));
  return `\x1b[${codes.join(';')}m`;
}

/** With colons: a terminal that does not know the code then leaves all of it out. */
function underlineCode(color: Color = defaultColor): string {
  if (color === defaultColor) return '59';
  if (color < trueColor) return `58:5:${color}`;
  return `58:2::${(color >> 16) & 0xff}:${(color >> 8) & 0xff}:${color & 0xff}`;
}

function colorCode(color: Color, base: number, brightBase: number): number | string {
  if (color === defaultColor) return base + 9;
  if (color < 8) return base + color;
  if (color < 16) return brightBase + color - 8;
  if (color < trueColor) return `${base + 8};5;${color}`;
  return `${base + 8};2;${(color >> 16) & 0xff};${(color >> 8) & 0xff};${color & 0xff}`;
}
