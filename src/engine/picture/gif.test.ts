import { describe, expect, test } from 'vitest';
import { gridOf, text } from '../../../test/support/pictures.ts';
import { trueColor } from '../screen/grid.ts';
import { encodeGif, type GifFrame } from './gif.ts';
import { lzw } from './lzw.ts';
import { drawPixels } from './raster.ts';
import type { Pixels } from './surface.ts';

const { signal } = new AbortController();

/** A reader of GIF's compressed numbers, written from the format's description. */
function unlzw(bytes: Uint8Array, bits: number): number[] {
  const stop = (1 << bits) + 1;
  let entries: number[][] = [];
  const out: number[] = [];
  let size = bits + 1;
  let before: number[] | undefined;
  const reset = (): void => {
    entries = Array.from({ length: stop + 1 }, (_, code) => (code < stop - 1 ? [code] : []));
    size = bits + 1;
    before = undefined;
  };
  reset();
  let held = 0;
  let heldBits = 0;
  for (const byte of bytes) {
    held |= byte << heldBits;
    heldBits += 8;
    while (heldBits >= size) {
      const code = held & ((1 << size) - 1);
      held >>>= size;
      heldBits -= size;
      if (code === stop) return out;
      if (code === stop - 1) {
        reset();
        continue;
      }
      const entry: number[] = entries[code] ?? [...(before ?? []), before?.[0] ?? -1];
      if (before !== undefined && entries.length < 4096) entries.push([...before, entry[0] ?? -1]);
      if (entries.length === 1 << size && size < 12) size++;
      out.push(...entry);
      before = entry;
    }
  }
  throw new Error('no end code');
}

interface ReadFrame {
  readonly box: readonly [number, number, number, number];
  readonly delay: number;
  /** The whole picture after this frame, as 0xRRGGBB, or -1 where nothing was ever drawn. */
  readonly screen: Int32Array;
}

function readGif(bytes: Buffer): { width: number; height: number; loops: number; frames: ReadFrame[] } {
  expect(bytes.toString('latin1', 0, 6)).toBe('GIF89a');
  const width = bytes.readUInt16LE(6);
  const height = bytes.readUInt16LE(8);
  const screen = new Int32Array(width * height).fill(-1);
  const frames: ReadFrame[] = [];
  let loops = -1;
  let delay = 0;
  let clear = -1;
  let at = 13;
  const blocks = (): Buffer => {
    const parts: Buffer[] = [];
    for (let length = bytes[at++] ?? 0; length > 0; length = bytes[at++] ?? 0) {
      parts.push(bytes.subarray(at, at + length));
      at += length;
    }
    return Buffer.concat(parts);
  };
  for (;;) {
    const kind = bytes[at++];
    if (kind === 0x3b) break;
    if (kind === 0x21) {
      const label = bytes[at++];
      const data = blocks();
      if (label === 0xff) loops = data.readUInt16LE(12);
      if (label === 0xf9) {
        delay = data.readUInt16LE(1);
        clear = data[3] ?? 0;
      }
      continue;
    }
    expect(kind).toBe(0x2c);
    const [x, y, w, h] = [0, 2, 4, 6].map((offset) => bytes.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
      number,
    ];
    const count = 2 << ((bytes[at + 8] ?? 0) & 7);
    const table = bytes.subarray(at + 9, at + 9 + count * 3);
    at += 9 + count * 3;
    const bits = bytes[at++] ?? 0;
    const values = unlzw(blocks(), bits);
    expect(values.length).toBe(w * h);
    values.forEach((value, index) => {
      if (value !== clear)
        screen[(y + Math.floor(index / w)) * width + x + (index % w)] = table.readUIntBE(value * 3, 3);
    });
    frames.push({ box: [x, y, w, h], delay, screen: screen.slice() });
  }
  expect(at).toBe(bytes.length);
  return { width, height, loops, frames };
}

async function encode(frames: readonly GifFrame[], loops = 0): Promise<ReturnType<typeof readGif>> {
  async function* all(): AsyncGenerator<GifFrame> {
    yield* frames;
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of encodeGif(all(), { loops }, signal)) pieces.push(piece);
  return readGif(Buffer.concat(pieces));
}

const screenOf = (pixels: Pixels): number[] =>
  Array.from({ length: pixels.width * pixels.height }, (_, at) => {
    if (pixels.kind === 'true') return (pixels.data[at] ?? 0) & 0xffffff;
    const index = pixels.data[Math.floor(at / pixels.width) * pixels.stride + 1 + (at % pixels.width)] ?? 0;
    return (pixels.colors[index] ?? 0) & 0xffffff;
  });

const plain = (width: number, height: number, colors: readonly number[]): Pixels => ({
  kind: 'true',
  opaque: true,
  width,
  height,
  data: Uint32Array.from({ length: width * height }, (_, at) => (colors[at % colors.length] ?? 0) + 0xff000000),
});

describe('lzw', () => {
  test.each([1, 2, 3, 8])('numbers of %i bits come back, over every code length and past a full table', (bits) => {
    const code = Math.max(2, bits);
    let state = 12345;
    for (const length of [0, 1, 2, 3, 4, 5, 6, 7, 253, 254, 255, 256, 511, 5000, 60_000]) {
      const values = Uint8Array.from({ length }, (_, at) => {
        state = (state * 1103515245 + 12345) & 0x7fffffff;
        return at % 5 === 0 ? (state >> 16) & ((1 << bits) - 1) : at % 2;
      });
      const blocks = lzw(values, code);
      const parts: Uint8Array[] = [];
      let at = 0;
      for (let size = blocks[at] ?? 0; size > 0; size = blocks[at] ?? 0) {
        parts.push(blocks.subarray(at + 1, at + 1 + size));
        at += size + 1;
      }
      expect(at).toBe(blocks.length - 1);
      expect(Buffer.compare(Buffer.from(unlzw(Buffer.concat(parts), code)), values)).toBe(0);
    }
  });
});

describe('encodeGif', () => {
  test('frames of terminals come back exactly, later ones as the rectangle that changed', async () => {
    const grids = ['$ ', '$ l', '$ ls'].map((line) => gridOf([text('hello', { fg: 2 }), text(line)], 12));
    const pixels = await Promise.all(grids.map((grid) => drawPixels(grid, { scale: 1 }, signal)));
    const gif = await encode(pixels.map((each) => ({ pixels: each, delayMs: 100 })));
    expect([gif.width, gif.height, gif.loops]).toEqual([pixels[0]?.width, pixels[0]?.height, 0]);
    expect(gif.frames.map((frame) => Array.from(frame.screen))).toEqual(pixels.map(screenOf));
    const [x = 0, y = 0, width = 0, height = 0] = gif.frames[2]?.box ?? [];
    expect(x).toBeGreaterThanOrEqual(16 + 25);
    expect(y).toBeGreaterThanOrEqual(16 + 17);
    expect(width).toBeLessThanOrEqual(9);
    expect(height).toBeLessThanOrEqual(17);
  });

  test('frames that look the same become one, and rounding loses no time', async () => {
    const one = plain(4, 4, [0xff0000]);
    const two = plain(4, 4, [0x00ff00]);
    const gif = await encode([
      { pixels: one, delayMs: 104 },
      { pixels: plain(4, 4, [0xff0000]), delayMs: 100 },
      { pixels: two, delayMs: 104 },
      { pixels: one, delayMs: 104 },
      { pixels: two, delayMs: 104 },
    ]);
    expect(gif.frames.length).toBe(4);
    expect(gif.frames.reduce((sum, frame) => sum + frame.delay, 0)).toBe(52);
  });

  test('frames too short to be shown give their time to the next', async () => {
    const frames = Array.from({ length: 12 }, (_, at) => ({ pixels: plain(2, 2, [at]), delayMs: 5 }));
    const gif = await encode(frames);
    expect(gif.frames.map((frame) => frame.delay).every((delay) => delay >= 2)).toBe(true);
    expect(gif.frames.reduce((sum, frame) => sum + frame.delay, 0)).toBe(6);
    expect(gif.frames.at(-1)?.screen[0]).toBe(11);
  });

  test('another size is cut or filled to that of the first frame', async () => {
    const gif = await encode([
      { pixels: plain(4, 4, [0xff0000]), delayMs: 50 },
      { pixels: plain(2, 6, [0x00ff00]), delayMs: 50 },
    ]);
    expect(Array.from(gif.frames[1]?.screen ?? [])).toEqual(Array.from({ length: 16 }, () => 0x00ff00));
  });

  test('more than 256 colours are thinned to near ones', async () => {
    const colors = Array.from({ length: 4000 }, (_, at) => (at % 256) * 0x010000 + (at >> 4) * 0x000100 + 0x40);
    const gif = await encode([{ pixels: plain(80, 50, colors), delayMs: 50 }]);
    gif.frames[0]?.screen.forEach((color, at) => {
      for (const shift of [0, 8, 16]) {
        expect(Math.abs(((color >> shift) & 255) - (((colors[at] ?? 0) >> shift) & 255))).toBeLessThanOrEqual(32);
      }
    });
  });

  test('the clear corners of a frame stay clear; no frame at all is no file', async () => {
    const pixels = await drawPixels(gridOf([text('x', { fg: trueColor + 0xff })], 4), { chrome: true }, signal);
    const gif = await encode([{ pixels, delayMs: 50 }], 3);
    expect([gif.loops, gif.frames[0]?.screen[0], gif.frames[0]?.screen[60]]).toEqual([3, -1, 0x1e1e2e]);
    const empty = encodeGif((async function* (): AsyncGenerator<GifFrame> {})(), {}, signal);
    expect((await empty.next()).done).toBe(true);
  });
});
