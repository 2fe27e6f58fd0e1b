import type { Core, CoreParams } from './core.ts';

/** Sequences the emulator obeys as often as they say, up to two thousand million times: ten bytes would hang it. */
const perRow = ['L', 'M', 'S', 'T'];
const perColumn = ['I', 'Z', 'b'];

/** Longer strings are no titles. */
const longestTitle = 4096;

/** Keeps every sequence to what it can do at most on a screen of this size. */
export function boundSequences(core: Core): void {
  const clamp = (final: string, most: () => number): void => {
    core.registerCsiHandler({ final }, ({ params }) => {
      if ((params[0] ?? 0) > most()) params[0] = most();
      return false;
    });
  };
  for (const final of perRow) clamp(final, () => core.rows);
  for (const final of perColumn) clamp(final, () => core.cols);
  for (const id of [{ final: 'J' }, { prefix: '?', final: 'J' }]) {
    core.registerCsiHandler(id, (numbers) => {
      const { x, y } = core.buffers.active;
      if (numbers.params[0] !== 1 || x < core.cols - 1) return false;
      if (y < core.rows - 1) return eraseAbove(core, numbers, id.prefix === '?');
      // From the last cell, everything before it is everything; the emulator looks for a row below and throws.
      numbers.params[0] = 2;
      return false;
    });
  }
  for (const id of [0, 1, 2]) core.registerOscHandler(id, (data) => data.length > longestTitle);
}

/** Erases up to the end of a row: the next one begins a line. The emulator takes for it a row that may have scrolled out long ago. */
function eraseAbove(core: Core, numbers: CoreParams, onlyUnprotected: boolean): boolean {
  const { lines, ybase, y } = core.buffers.active;
  const mistaken = lines.get(y + 1);
  const wasWrapped = mistaken?.isWrapped ?? false;
  core._inputHandler.eraseInDisplay(numbers, onlyUnprotected);
  if (mistaken) mistaken.isWrapped = wasWrapped;
  const next = lines.get(ybase + y + 1);
  if (next) next.isWrapped = false;
  return true;
}
