import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { scrollback, size } from '../lib/setting.mjs';
import { best, interleave } from '../lib/measure.mjs';
import { never } from '../lib/product.mjs';
import * as resvg from '../peers/resvg.mjs';

export const order = 120;
export const name = 'screenshot of 120×40';
export const bar = {
  "vs canvas's own PNG encoder": { atMost: 0.3 },
  'vs resvg': { atMost: 0.1 },
};

/** Our whole way from cells to a file, against the encoder alone on the very same pixels, and against SVG of the same cells. */
export async function run(bench) {
  const { Screen } = await bench.load('engine/screen/screen');
  const { systemClock: clock } = await bench.load('system/clock');
  const { drawPng } = await bench.load('engine/picture/png');
  const screen = new Screen({ size, scrollback, clock });
  const log = readFileSync(bench.flood('log', 1)).subarray(0, 40 << 10);
  screen.feed(Buffer.from(log.toString().replaceAll('\n', '\r\n')));
  const picture = await drawPng(screen.grid(), {}, never);
  const { createCanvas, loadImage } = createRequire(import.meta.url)('@napi-rs/canvas');
  const canvas = createCanvas(picture.width, picture.height);
  canvas.getContext('2d').drawImage(await loadImage(Buffer.from(picture.bytes)), 0, 0);

  const results = await interleave(bench.pick(25, 3), {
    ours: () => timed(() => drawPng(screen.grid(), {}, never)),
    canvas: () => timed(() => canvas.encode('png')),
    ...(resvg.available && { resvg: () => timed(() => resvg.drawPng(screen.grid(), picture.width)) }),
  });
  const [ours, theirs] = [best(results.ours), best(results.canvas)];
  const detail = `${ours.toFixed(1)} ms drawn and encoded, canvas ${theirs.toFixed(1)} ms encoded; ${picture.width}×${picture.height}`;
  return {
    "vs canvas's own PNG encoder": { value: ours / theirs, detail },
    'vs resvg': results.resvg
      ? { value: ours / best(results.resvg), detail: `resvg ${best(results.resvg).toFixed(1)} ms` }
      : { skipped: '@resvg/resvg-js is not installed' },
  };
}

async function timed(run) {
  const began = performance.now();
  await run();
  return performance.now() - began;
}
