import type { Core } from './core.ts';

/** Sequences the emulator obeys as often as they say, up to two thousand million times: ten bytes would hang it. */
const perRow = ['L', 'M', 'S', 'T'];
const perColumn = ['I', 'Z', 'b'];

/** Longer ones are nobody's title. */
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
    core.registerCsiHandler(id, ({ params }) => {
      const { x, y } = core.buffers.active;
      // From the last cell, everything before it is everything; the emulator looks for a row below and throws.
      if (params[0] === 1 && x >= core.cols - 1 && y >= core.rows - 1) params[0] = 2;
      return false;
    });
  }
  for (const id of [0, 1, 2]) core.registerOscHandler(id, (data) => data.length > longestTitle);
}
