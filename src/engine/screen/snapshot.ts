import { defaultPen, paint, penChange, usedCells } from './ansi.ts';
import { penOf, readCells } from './xterm/cells.ts';
import { charsetLetter } from './xterm/charsets.ts';
import type { Core, CoreBuffer } from './xterm/core.ts';
import type { Emulator } from './xterm/emulator.ts';
import { factsOf } from './xterm/facts.ts';
import { hasUsualTabs } from './feed/fast-forward.ts';
import type { Cell } from './grid.ts';

/**
 * Escape text that makes a fresh terminal of the same size look and behave like this one: rows, cursor, pen, margins, tab
 * stops, character sets, saved cursor, modes, title, and the normal screen below an alternate one.
 */
export function snapshot(emulator: Emulator, scrollback: number): string {
  const { core } = emulator;
  const { normal, alt, active } = core.buffers;
  const { title, modes, cursor } = factsOf(emulator);
  let text = content(normal, core.cols, Math.max(0, normal.ybase - scrollback));
  text += tabStops(normal, core.cols);
  text += active === alt ? alternate(core) : saved(normal, core.cols, '\x1b7');
  if (title !== '') text += `\x1b]2;${title}\x1b\\`;
  text += margins(active, core.rows);
  const set = (on: boolean, code: string): void => {
    if (on) text += `\x1b[${code}`;
  };
  const odd = restoredCharset(core);
  if (odd) text += `${charsets(core)}\x1b8\x1b[0m`;
  set(modes.origin, '?6h');
  text += place(active, core.cols, modes.origin);
  text += penChange(defaultPen, penOf(core._inputHandler._curAttrData));
  if (!odd) text += charsets(core);
  set(core.options.convertEol, '20h');
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

/** Enters the alternate screen from the normal one's saved cursor, to which the program will return. */
function alternate({ buffers, cols, rows }: Core): string {
  const { normal, alt } = buffers;
  const below = margins(normal, rows);
  let text = below + (saved(normal, cols, '\x1b[?1049h') || `${moveTo(0, 0)}\x1b[?1049h`);
  if (below !== '') text += '\x1b[r';
  // It was entered in the saved pen, and that fills it.
  if (penOf(normal.savedCurAttrData).bg !== defaultPen.bg) text += '\x1b[2J';
  return `${text}\x1b[H${content(alt, cols, 0)}${tabStops(alt, cols)}${saved(alt, cols, '\x1b7')}`;
}

/** Goes where the saved cursor is, with its pen and characters, and does `save` there; '' for one that was never saved. */
function saved(buffer: CoreBuffer, cols: number, save: string): string {
  const x = Math.min(buffer.savedX, cols - 1);
  const y = Math.max(0, buffer.savedY - buffer.ybase);
  const pen = penChange(defaultPen, penOf(buffer.savedCurAttrData));
  const letter = charsetLetter(buffer.savedCharset);
  if (x === 0 && y === 0 && pen === '' && letter === 'B') return '';
  const [drawn, plain] = letter === 'B' ? ['', ''] : [`\x1b(${letter}`, '\x1b(B'];
  return `${moveTo(x, y)}${pen}${drawn}${save}${plain}${pen === '' ? '' : '\x1b[0m'}`;
}

function margins({ scrollTop, scrollBottom }: CoreBuffer, rows: number): string {
  return scrollTop === 0 && scrollBottom === rows - 1 ? '' : `\x1b[${scrollTop + 1};${scrollBottom + 1}r`;
}

function tabStops({ tabs }: CoreBuffer, cols: number): string {
  if (hasUsualTabs(tabs, cols)) return '';
  const stops = Array.from({ length: cols }, (_, x) => (tabs[x] ? `\x1b[${x + 1}G\x1bH` : ''));
  return `\x1b[3g${stops.join('')}`;
}

/** G0 to G3 as they are, and which of them is used. */
function charsets({ _charsetService: { _charsets, glevel } }: Core): string {
  const named = ['(', ')', '*', '+'].map((into, index) => {
    const letter = charsetLetter(_charsets[index]);
    return letter === 'B' ? '' : `\x1b${into}${letter}`;
  });
  return named.join('') + (['', '\x0e', '\x1bn', '\x1bo'][glevel] ?? '');
}

/** The characters came with a cursor that was restored: they are none of G0 to G3, and only restoring it brings them back. */
function restoredCharset({ _charsetService: { charset, _charsets, glevel } }: Core): boolean {
  return charsetLetter(charset) !== charsetLetter(_charsets[glevel]);
}

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
