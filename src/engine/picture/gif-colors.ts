import { nearest } from './surface.ts';

/** A rectangle of a frame as numbers into a short list of colours. */
export interface GifColors {
  readonly values: Uint8Array;
  /** 0xRRGGBB. The list has room for 2^bits entries, the clear one among them. */
  readonly list: readonly number[];
  readonly bits: number;
  /** The number for "as it was before". */
  readonly clear: number;
}

/** One of 256 stands for "unchanged". */
const maxList = 255;

export function gifColors(
  now: Uint32Array,
  before: Uint32Array | undefined,
  stride: number,
  box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number },
): GifColors {
  const counts = new Map<number, number>();
  const area = new Int32Array(box.width * box.height);
  let last = -2;
  let run = 0;
  for (let y = 0, to = 0; y < box.height; y++) {
    let from = (box.y + y) * stride + box.x;
    for (let x = 0; x < box.width; x++, from++) {
      const argb = now[from] as number;
      const kept = before !== undefined ? before[from] === argb : argb < 0x80000000;
      const color = kept ? -1 : argb & 0xffffff;
      area[to++] = color;
      if (color === last) {
        run++;
        continue;
      }
      if (last >= 0) counts.set(last, (counts.get(last) ?? 0) + run);
      last = color;
      run = 1;
    }
  }
  if (last >= 0) counts.set(last, (counts.get(last) ?? 0) + run);
  const list = chosen(counts);
  const numbers = new Map<number, number>(list.map((color, index) => [color, index]));
  for (const color of counts.keys()) if (!numbers.has(color)) numbers.set(color, nearest(list, color));
  const clear = list.length;
  numbers.set(-1, clear);
  const values = new Uint8Array(area.length);
  let lastValue = clear;
  last = -1;
  for (let at = 0; at < area.length; at++) {
    const color = area[at] as number;
    if (color !== last) {
      last = color;
      lastValue = numbers.get(color) ?? clear;
    }
    values[at] = lastValue;
  }
  return { values, list, bits: Math.max(1, Math.ceil(Math.log2(clear + 1))), clear };
}

/**
 * Every colour where there is room. Where not, the most used one of each small cube of colours, so that a gradient is
 * thinned evenly instead of losing its rare end.
 */
function chosen(counts: ReadonlyMap<number, number>): number[] {
  const all = [...counts].toSorted(([a, often], [b, seldom]) => seldom - often || a - b);
  if (all.length <= maxList) return all.map(([color]) => color);
  for (let lost = 1; ; lost++) {
    const mask = ((0xff << lost) & 0xff) * 0x010101;
    const cubes = new Set<number>();
    const picked = all.filter(([color]) => !cubes.has(color & mask) && cubes.add(color & mask));
    if (picked.length <= maxList) return picked.map(([color]) => color);
  }
}
