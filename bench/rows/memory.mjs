import { readFileSync } from 'node:fs';
import { scrollback, size } from '../lib/setting.mjs';

export const order = 110;
export const name = 'memory of a screen with 1,000 lines';
export const bar = {
  'live, coloured log': { atMost: 3 },
  'hibernated, coloured log': { atMost: 30 },
};

/** What the process grows by, per screen, with everything a screen keeps; the byte log is counted on its own. */
export async function run(bench) {
  const count = bench.pick(100, 5);
  const { Screen } = await bench.load('engine/screen/screen');
  const { systemClock: clock } = await bench.load('system/clock');
  const lines = readFileSync(bench.flood('log', 1), 'utf8').split('\n', scrollback + size.rows);
  const output = Buffer.from(lines.join('\r\n'));
  const make = () => {
    const screen = new Screen({ size, scrollback, clock });
    screen.feed(output);
    return screen;
  };
  // Code and tables that all screens share: the compiler makes more of them for a while.
  const asleep = () => {
    const screen = make();
    if (!screen.hibernate()) throw new Error('A screen would not go to sleep.');
    return screen;
  };
  for (let i = 0; i < count; i++) asleep();
  const before = await memory();
  const sleeping = Array.from({ length: 5 * count }, asleep);
  const between = await memory();
  const images = sleeping.reduce((total, screen) => total + screen.imageBytes, 0);
  const living = Array.from({ length: count }, make);
  const live = (await memory()) - between;
  const rows = living[0].facts.scrollbackRows;
  return {
    'live, coloured log': { value: live / count / 2 ** 20, unit: 'MB', detail: `${rows} rows above the viewport` },
    'hibernated, coloured log': {
      value: (between - before) / sleeping.length / 1024,
      unit: 'KB',
      detail: `of which the image ${(images / sleeping.length / 1024).toFixed(1)} KB`,
    },
  };
}

async function memory() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc();
    // Buffers are given back a turn after the objects that held them.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
