import { type Cell, type Line, style } from '../../screen/grid.ts';
import { mix, type Palette, type Rgb, rgbOf } from '../color.ts';

export const cellWidth = 8.4;
export const cellHeight = 17;
const baseline = 13;

interface Look {
  readonly fg: Rgb;
  readonly bg: Rgb;
  readonly style: number;
}

interface Stretch extends Look {
  readonly from: number;
  to: number;
  text: string;
}

/** What a row looks like: backgrounds and text in stretches of one look; '' for a blank row. */
export function rowOf({ cells }: Line, palette: Palette): string {
  return stretches(cells, palette)
    .map((stretch) => ground(stretch, palette) + words(stretch, palette))
    .join('');
}

function stretches(cells: readonly Cell[], palette: Palette): Stretch[] {
  const found: Stretch[] = [];
  for (const [x, cell] of cells.entries()) {
    if (cell.width === 0) continue;
    const look = lookOf(cell, palette);
    const last = found.at(-1);
    const text = cell.text === '' ? ' ' : cell.text;
    if (last?.to === x && sameLook(last, look) && cell.width === 1 && standTogether(last, text)) {
      last.text += text;
      last.to = x + 1;
    } else found.push({ ...look, from: x, to: x + cell.width, text });
  }
  return found;
}

/** Fonts disagree about the width of other characters: each has a place of its own, unless one is repeated as in a ruler. */
const standTogether = ({ text, from, to }: Stretch, next: string): boolean =>
  isAscii(text) ? isAscii(next) : text === next.repeat(to - from);

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

const sameLook = (a: Look, b: Look): boolean => a.fg === b.fg && a.bg === b.bg && a.style === b.style;

function lookOf(cell: Cell, palette: Palette): Look {
  let [fg, bg] = [rgbOf(cell.fg, palette, palette.foreground), rgbOf(cell.bg, palette, palette.background)];
  if (cell.style & style.inverse) [fg, bg] = [bg, fg];
  if (cell.style & style.dim) fg = mix(fg, bg, 0.55);
  return { fg, bg, style: cell.style };
}

function ground({ from, to, bg }: Stretch, palette: Palette): string {
  if (bg === palette.background) return '';
  // A little wider, so that no seam shows between two of them.
  return `<rect x="${tenths(from)}" width="${tenths(to - from + 0.04)}" height="${cellHeight}" fill="${hex(bg)}"/>`;
}

function words({ from, to, text, fg, style: bits }: Stretch, palette: Palette): string {
  const lines = [
    ...(bits & style.underline ? ['underline'] : []),
    ...(bits & style.strike ? ['line-through'] : []),
    ...(bits & style.overline ? ['overline'] : []),
  ].join(' ');
  const shown = lines === '' ? text.trimEnd() : text;
  const blank = lines === '' ? shown.length - shown.trimStart().length : 0;
  if (shown === '' || bits & style.invisible) return '';
  const words = shown.slice(blank);
  const width = isAscii(words) ? words.length : to - from;
  const isWide = !isAscii(words) && [...words].length < width;
  const attributes = [
    `x="${tenths(from + blank)}"`,
    `y="${baseline}"`,
    // The same columns in every font.
    ...(width > 1 && !isWide ? [`textLength="${tenths(width)}"`] : []),
    ...(fg === palette.foreground ? [] : [`style="fill:${hex(fg)}"`]),
    ...(bits & style.bold ? ['font-weight="700"'] : []),
    ...(bits & style.italic ? ['font-style="italic"'] : []),
    ...(lines === '' ? [] : [`text-decoration="${lines}"`]),
  ];
  return `<text ${attributes.join(' ')}>${escapeXml(words)}</text>`;
}

const tenths = (cells: number): number => Math.round(cells * cellWidth * 100) / 100;

export const hex = (color: Rgb): string => `#${color.toString(16).padStart(6, '0')}`;

/** Characters that XML has no place for are replaced. */
export function escapeXml(text: string): string {
  return text
    .replace(
      /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      '\ufffd',
    )
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
