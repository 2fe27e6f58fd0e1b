import type { Emulator } from './emulator.ts';

/**
 * Rows keep counting: the cursor's line keeps its absolute number, but a new epoch begins because rows after it come anew.
 * (The emulator's own clear does nothing when the cursor is on the first row, even with text below it.)
 */
export function clearScreen(emulator: Emulator): void {
  const { core } = emulator;
  const buffer = core.buffers.active;
  const above = buffer.ybase + buffer.y;
  buffer.lines.trimStart(above);
  buffer.lines.length = 1;
  const kept = buffer.lines.get(0);
  if (kept) kept.isWrapped = false;
  const plain = Object.assign(core._inputHandler._curAttrData.clone(), { fg: 0, bg: 0 });
  for (let i = 1; i < core.rows; i++) buffer.lines.push(buffer.getBlankLine(plain));
  buffer.ybase = 0;
  buffer.ydisp = 0;
  buffer.y = 0;
  buffer.savedY = Math.max(0, buffer.savedY - above);
  emulator.epoch++;
}
