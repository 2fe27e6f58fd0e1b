import { color } from './xterm/cells.ts';
import { bits, cellSize, type CoreLine } from './xterm/core.ts';
import { type Cell, type Color, defaultColor, style, trueColor } from './grid.ts';
import { darkTheme, paletteColor } from './theme.ts';

/** Colours that cannot be told apart differ by no more than this in each of red, green and blue. */
const tooClose = 12;

/**
 * The text of cells up to the last one something was written to, with hidden text between ⟦ and ⟧ so that a reader knows
 * what a person would not see.
 */
export function markHidden(cells: readonly Cell[]): { readonly text: string; readonly hidden: number } {
  let end = cells.length;
  // Blanks that were written stay: the line may go on in the next row.
  while (end > 0 && cells[end - 1]?.text === '') end--;
  let text = '';
  let hidden = 0;
  let at = 0;
  for (const [from, to] of hiddenRuns(cells)) {
    const run = cells.slice(from, to).map(shown).join('');
    text += `${cells.slice(at, from).map(shown).join('')}⟦${run}⟧`;
    hidden += run.length;
    at = to;
  }
  text += cells.slice(at, end).map(shown).join('');
  return { text, hidden };
}

/** Whether the line may hold hidden text; cheap for a line without colours. */
export function mayHide(line: CoreLine): boolean {
  const data = line._data;
  let lastFg = 0;
  let lastBg = 0;
  for (let at = 0; at < line.length * cellSize; at += cellSize) {
    const fg = data[at + 1] as number;
    const bg = data[at + 2] as number;
    if ((fg === lastFg && bg === lastBg) || ((data[at] as number) & bits.hasContent) === 0) continue;
    lastFg = fg;
    lastBg = bg;
    if ((fg & bits.fg.invisible) !== 0 || hides(color(fg), color(bg))) return true;
  }
  return false;
}

/** Whether text in these colours cannot be seen. Asked often, of few pairs. */
export function hides(fg: Color, bg: Color): boolean {
  if (fg === bg) return fg !== defaultColor;
  const front = rgb(fg, darkTheme.foreground);
  // The theme of the viewer is not known; dark ones have one of these two behind their text.
  if (bg === defaultColor) return alike(front, darkTheme.background) || alike(front, 0);
  return alike(front, rgb(bg, darkTheme.background));
}

function alike(one: number, other: number): boolean {
  return (
    Math.abs((one >> 16) - (other >> 16)) <= tooClose &&
    Math.abs(((one >> 8) & 0xff) - ((other >> 8) & 0xff)) <= tooClose &&
    Math.abs((one & 0xff) - (other & 0xff)) <= tooClose
  );
}

function rgb(value: Color, fallback: number): number {
  if (value === defaultColor) return fallback;
  return value >= trueColor ? value - trueColor : paletteColor(darkTheme, value);
}

const shown = ({ text, width }: Cell): string => (text === '' && width !== 0 ? ' ' : text);

function hiddenRuns(cells: readonly Cell[]): [from: number, to: number][] {
  const runs: [number, number][] = [];
  for (let x = 0; x < cells.length; x++) {
    const cell = cells[x] as Cell;
    if (cell.text.trim() === '' || !isHidden(cell)) continue;
    const last = runs.at(-1);
    // Blanks between hidden words belong to them, if they look the same.
    if (last && cells.slice(last[1], x).every((between) => between.text.trim() === '' && isHidden(between)))
      last[1] = x + 1;
    else runs.push([x, x + 1]);
  }
  // Frames drawn in the colour of their ground are shadows, not messages.
  return runs.filter(([from, to]) => cells.slice(from, to).some(({ text }) => /[\p{L}\p{N}]/u.test(text)));
}

function isHidden(cell: Cell): boolean {
  // Bold makes the first eight colours bright: white on white can be read then.
  const bright = (cell.style & style.bold) !== 0 && cell.fg >= 0 && cell.fg < 8;
  return (cell.style & style.invisible) !== 0 || hides(bright ? cell.fg + 8 : cell.fg, cell.bg);
}
