import type { Emulator } from './emulator.ts';

/**
 * Rows keep counting: the cursor's line keeps its absolute number, but a new epoch begins because rows after it come anew.
 * Without `keepLine` it is emptied too. (The emulator's own clear does nothing when the cursor is on the first row, even
 * with text below it.)
 */
export function clearScreen(emulator: Emulator, keepLine: boolean): void {
  const { core } = emulator;
  const buffer = core.buffers.active;
  const cursorRow = buffer.ybase + buffer.y;
  const wraps = (row: number): boolean => buffer.lines.get(row)?.isWrapped === true;
  let first = cursorRow;
  let end = cursorRow;
  if (keepLine) {
    // A line longer than the screen is wide is several rows; the prompt stands on the first of them.
    while (first > 0 && wraps(first)) first--;
    for (end = cursorRow + 1; end < buffer.lines.length && wraps(end); ) end++;
  } else buffer.x = 0;
  const kept = end - first;
  buffer.lines.trimStart(first);
  buffer.lines.length = kept;
  const top = buffer.lines.get(0);
  if (top && kept > 0) top.isWrapped = false;
  const plain = Object.assign(core._inputHandler._curAttrData.clone(), { fg: 0, bg: 0 });
  for (let i = kept; i < core.rows; i++) buffer.lines.push(buffer.getBlankLine(plain));
  buffer.ybase = Math.max(0, kept - core.rows);
  buffer.ydisp = buffer.ybase;
  buffer.y = cursorRow - first - buffer.ybase;
  buffer.savedY = Math.max(0, buffer.savedY - first);
  emulator.epoch++;
}
