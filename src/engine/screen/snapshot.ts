import { defaultPen, paint, penChange, type Pen, usedCells } from './ansi.ts';
import { color, readCells, styleOf } from './cells.ts';
import type { CoreBuffer } from './core.ts';
import type { Emulator } from './emulator.ts';
import { factsOf } from './facts.ts';
import type { Cell } from './grid.ts';

/**
 * Escape text that makes a fresh terminal of the same size look and behave like this one: rows, cursor, pen, margins, modes,
 * title, and the normal screen below an alternate one.
 */
export function snapshot(emulator: Emulator, scrollback: number): string {
  const { core } = emulator;
  const { normal, alt, active } = core.buffers;
  const { title, modes, cursor } = factsOf(emulator);
  let text = content(normal, core.cols, Math.max(0, normal.ybase - scrollback));
  if (active === alt) {
    text += moveTo(normal.savedX, Math.max(0, normal.savedY - normal.ybase));
    text += `\x1b[?1049h\x1b[H${content(alt, core.cols, 0)}`;
  }
  if (title !== '') text += `\x1b]2;${title}\x1b\\`;
  if (active.scrollTop !== 0 || active.scrollBottom !== core.rows - 1) {
    text += `\x1b[${active.scrollTop + 1};${active.scrollBottom + 1}r`;
  }
  const set = (on: boolean, code: string): void => {
    if (on) text += `\x1b[${code}`;
  };
  set(modes.origin, '?6h');
  text += place(active, core.cols, modes.origin);
  text += penChange(defaultPen, penOf(emulator));
  set(modes.insert, '4h');
  set(!modes.autowrap, '?7l');
  set(modes.reverseWrap, '?45h');
  set(modes.applicationCursor, '?1h');
  set(modes.applicationKeypad, '?66h');
  set(modes.bracketedPaste, '?2004h');
  set(modes.focusReports, '?1004h');
  if (modes.mouse !== 'none') set(true, `?${{ x10: 9, vt200: 1000, drag: 1002, any: 1003 }[modes.mouse]}h`);
  if (modes.mouseEncoding !== 'default') set(true, `?${{ sgr: 1006, sgr_pixels: 1016 }[modes.mouseEncoding]}h`);
  if (modes.cursorBlink !== undefined) {
    set(true, `${{ block: 2, underline: 4, bar: 6 }[cursor.shape] - (modes.cursorBlink ? 1 : 0)} q`);
  }
  set(!cursor.visible, '?25l');
  return text;
}

const moveTo = (x: number, y: number): string => `\x1b[${y + 1};${x + 1}H`;

/** Puts the cursor where it is. One that waits to wrap gets there only by printing the last character again. */
function place(buffer: CoreBuffer, cols: number, origin: boolean): string {
  const y = buffer.y - (origin ? buffer.scrollTop : 0);
  if (buffer.x < cols) return moveTo(buffer.x, y);
  const line = buffer.lines.get(buffer.ybase + buffer.y);
  const cells = line ? readCells(line, cols) : [];
  const last = cells.at(-1)?.width === 0 ? cols - 2 : cols - 1;
  return moveTo(last, y) + paint(cells.slice(last)).text;
}

function content(buffer: CoreBuffer, cols: number, from: number): string {
  let text = '';
  let end = buffer.lines.length;
  while (end > from && usedCells(cellsOf(buffer, end - 1, cols)) === 0) end--;
  // Every retained row of the viewport must exist below the scrollback, also the blank ones.
  if (from < buffer.ybase) end = buffer.lines.length;
  for (let row = from; row < end; row++) {
    const cells = cellsOf(buffer, row, cols);
    const next = row + 1 < end ? cellsOf(buffer, row + 1, cols) : undefined;
    const runsOn = next !== undefined && buffer.lines.get(row + 1)?.isWrapped === true && usedCells(next) > 0;
    // A wide character that did not fit leaves the last column to the wrap.
    const full = runsOn ? cols - (next[0]?.width === 2 && isEmpty(cells.at(-1)) ? 1 : 0) : usedCells(cells);
    text += paint(cells.slice(0, full)).text;
    if (next !== undefined && !runsOn) text += '\r\n';
  }
  return text;
}

const isEmpty = (cell: Cell | undefined): boolean => cell?.text === '' && cell.width === 1;

function cellsOf(buffer: CoreBuffer, row: number, cols: number): Cell[] {
  const line = buffer.lines.get(row);
  return line ? readCells(line, cols) : [];
}

function penOf({ core }: Emulator): Pen {
  const { fg, bg } = core._inputHandler._curAttrData;
  return { fg: color(fg), bg: color(bg), style: styleOf(fg, bg) };
}
