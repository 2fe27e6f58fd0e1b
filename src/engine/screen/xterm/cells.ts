import { bits, cellSize, type CoreAttributes, type CoreExtended, type CoreLine } from './core.ts';
import { type Cell, type Color, defaultColor, style, trueColor, underline, underlineShift } from '../grid.ts';

const blank: Cell = { text: '', width: 1, fg: defaultColor, bg: defaultColor, style: 0 };
const secondHalf: Cell = { ...blank, width: 0 };
const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

/** The cells of one line, `cols` of them. Cells nothing was written to are one shared object. */
export function readCells(line: CoreLine, cols: number): Cell[] {
  const data = line._data;
  const cells: Cell[] = [];
  for (let x = 0, at = 0; x < cols; x++, at += cellSize) {
    const content = data[at] as number;
    const fg = data[at + 1] as number;
    const bg = data[at + 2] as number;
    const width = (content >>> bits.widthShift) as 0 | 1 | 2;
    if (x >= line.length) cells.push(blank);
    else if (fg === 0 && bg === 0 && (content & bits.hasContent) === 0) cells.push(width === 0 ? secondHalf : blank);
    else {
      const text = cellText(line, x, content);
      const cell: Cell = {
        text,
        width: text === '' ? width : width || 1,
        fg: color(fg),
        bg: color(bg),
        style: styleOf(fg, bg),
      };
      const isLined = (bg & bits.bg.extended) !== 0 && (fg & bits.fg.underline) !== 0;
      const extended = isLined ? line._extendedAttrs[x] : undefined;
      cells.push(extended === undefined ? cell : { ...cell, ...underlineOf(cell.style, extended) });
    }
  }
  return cells;
}

/** The text of a line up to the last cell something was written to. */
export function lineText(line: CoreLine, cols: number): string {
  const data = line._data;
  let end = Math.min(cols, line.length);
  while (end > 0 && ((data[(end - 1) * cellSize] as number) & bits.hasContent) === 0) {
    // The second half of a wide character is empty too, but its first half is not.
    if ((data[(end - 1) * cellSize] as number) >>> bits.widthShift === 0) break;
    end--;
  }
  let units = 0;
  for (let x = 0; x < end; x++) {
    const content = data[x * cellSize] as number;
    const code = content & bits.hasContent;
    if (code === 0) {
      if (content >>> bits.widthShift !== 0) row[units++] = 0x20;
    } else if (code > 0xffff || content >>> bits.widthShift === 0) {
      // Rare: beyond what fits one UTF-16 unit.
      return slowText(line, end);
    } else {
      row[units++] = code;
    }
  }
  return String.fromCharCode.apply(null, row.subarray(0, units) as unknown as number[]);
}

// No screen is wider than a thousand columns.
const row = new Uint16Array(1024);

function slowText(line: CoreLine, end: number): string {
  let text = '';
  for (let x = 0; x < end; x++) {
    const content = line._data[x * cellSize] as number;
    if ((content & bits.hasContent) !== 0) text += cellText(line, x, content);
    else if (content >>> bits.widthShift !== 0) text += ' ';
  }
  return text;
}

function cellText(line: CoreLine, x: number, content: number): string {
  const text = characters(line, x, content);
  // A combining character with nothing to combine with got a cell of its own; a space carries it.
  return text !== '' && content >>> bits.widthShift === 0 ? ` ${text}` : text;
}

function characters(line: CoreLine, x: number, content: number): string {
  if ((content & bits.combined) !== 0) return line._combined[x] ?? '';
  const code = content & bits.codePoint;
  if (code === 0) return '';
  return code < 128 ? (ascii[code] as string) : String.fromCodePoint(code);
}

export function color(packed: number): Color {
  switch (packed & bits.colorMode) {
    case 0:
      return defaultColor;
    case bits.rgbMode:
      return trueColor + (packed & bits.rgb);
    default:
      return packed & 0xff;
  }
}

/** What the next character will look like. */
export function penOf({ fg, bg, extended }: CoreAttributes): Pick<Cell, 'fg' | 'bg' | 'style' | 'underlineColor'> {
  const flags = styleOf(fg, bg);
  const under = underlineOf(flags, extended);
  // The colour may be set before there is an underline.
  return { fg: color(fg), bg: color(bg), ...under, style: bg & bits.bg.extended ? under.style : flags };
}

function underlineOf(flags: number, { _ext }: CoreExtended): Pick<Cell, 'style' | 'underlineColor'> {
  const kind = (_ext >>> bits.extended.underlineShift) & bits.extended.underline;
  const isOther = (flags & style.underline) !== 0 && kind > underline.single;
  const styled = { style: isOther ? flags | (kind << underlineShift) : flags };
  const packed = _ext & bits.extended.color;
  // All bits set is how the emulator writes down that there is none.
  const isPlain = (packed & bits.colorMode) === 0 || packed === bits.extended.color;
  return isPlain ? styled : { ...styled, underlineColor: color(packed) };
}

function styleOf(fg: number, bg: number): number {
  let flags = 0;
  if (fg & bits.fg.bold) flags |= style.bold;
  if (bg & bits.bg.dim) flags |= style.dim;
  if (bg & bits.bg.italic) flags |= style.italic;
  if (fg & bits.fg.underline) flags |= style.underline;
  if (fg & bits.fg.inverse) flags |= style.inverse;
  if (fg & bits.fg.strike) flags |= style.strike;
  if (fg & bits.fg.blink) flags |= style.blink;
  if (fg & bits.fg.invisible) flags |= style.invisible;
  if (bg & bits.bg.overline) flags |= style.overline;
  return flags;
}
