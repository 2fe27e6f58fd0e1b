import { setImmediate as nextTurn } from 'node:timers/promises';
import { type GifColors, gifColors } from './gif-colors.ts';
import { lzw } from './lzw.ts';
import type { Pixels } from './surface.ts';

export interface GifFrame {
  readonly pixels: Pixels;
  /** How long the frame is shown. */
  readonly delayMs: number;
}

interface GifOptions {
  /** 0, the default, plays for ever. */
  readonly loops?: number;
}

/** Viewers slow down anything quicker: shorter frames give their time to the next one. */
const minDelayMs = 20;
const maxDelay = 65_535;

/**
 * An animated GIF, in pieces as they are ready. The first frame sets the size; others are cut or filled to it. Each frame
 * holds only the rectangle that changed, with what did not change inside it left clear, and its own list of colours.
 */
export async function* encodeGif(
  frames: AsyncIterable<GifFrame>,
  options: GifOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size: Size | undefined;
  let shown: Uint32Array | undefined;
  let pending: { argb: Uint32Array; ms: number } | undefined;
  let owed = 0;
  /** GIF counts hundredths of a second; what rounding takes from one frame the next one gets. */
  const write = (argb: Uint32Array, ms: number, area: Size): Uint8Array => {
    const hundredths = Math.max(minDelayMs / 10, Math.min(maxDelay, Math.round((ms + owed) / 10)));
    owed += ms - hundredths * 10;
    const piece = framePiece(argb, shown, area, hundredths);
    shown = argb;
    return piece;
  };
  for await (const { pixels, delayMs } of frames) {
    signal.throwIfAborted();
    if (size === undefined) {
      size = { width: pixels.width, height: pixels.height };
      yield header(size, options.loops ?? 0);
    }
    const argb = flatten(pixels, size);
    if (pending !== undefined && same(pending.argb, argb)) {
      pending.ms += delayMs;
      continue;
    }
    let ms = delayMs;
    if (pending !== undefined) {
      if (pending.ms + owed < minDelayMs) ms += pending.ms;
      else yield write(pending.argb, pending.ms, size);
    }
    pending = { argb, ms };
    await nextTurn();
  }
  if (size === undefined) return;
  if (pending !== undefined) yield write(pending.argb, pending.ms, size);
  yield Uint8Array.of(0x3b);
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function header({ width, height }: Size, loops: number): Uint8Array {
  const loop = Buffer.from('\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00', 'latin1');
  loop.writeUInt16LE(Math.min(65_535, loops), 16);
  const screen = Buffer.from('GIF89a\x00\x00\x00\x00\x70\x00\x00', 'latin1');
  screen.writeUInt16LE(width, 6);
  screen.writeUInt16LE(height, 8);
  return Buffer.concat([screen, loop]);
}

/** 0xAARRGGBB for each pixel, at the size of the animation; what a smaller frame lacks has the colour of its corner. */
function flatten(pixels: Pixels, { width, height }: Size): Uint32Array {
  const out = new Uint32Array(width * height);
  const colors =
    pixels.kind === 'indexed' ? Uint32Array.from({ length: 256 }, (_, at) => pixels.colors[at] ?? 0) : undefined;
  const stride = pixels.kind === 'indexed' ? pixels.stride : pixels.width;
  const origin = pixels.kind === 'indexed' ? 1 : 0;
  const colorAt = (at: number): number => colors?.[pixels.data[at] as number] ?? (pixels.data[at] as number);
  const columns = Math.min(width, pixels.width);
  const rows = Math.min(height, pixels.height);
  if (columns < width || rows < height) out.fill(colorAt(origin));
  for (let y = 0; y < rows; y++) {
    let to = y * width;
    let from = origin + y * stride;
    for (const end = from + columns; from < end; from++) out[to++] = colorAt(from);
  }
  return out;
}

function same(one: Uint32Array, other: Uint32Array): boolean {
  return Buffer.compare(new Uint8Array(one.buffer), new Uint8Array(other.buffer)) === 0;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The smallest rectangle with every difference in it. Pictures are compared only when they differ. */
function changed(now: Uint32Array, before: Uint32Array | undefined, { width, height }: Size): Box {
  if (before === undefined) return { x: 0, y: 0, width, height };
  let left = width;
  let right = 0;
  let top = height;
  let bottom = 0;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (now[at] === before[at]) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      bottom = y;
    }
  }
  if (left > right) return { x: 0, y: 0, width: 1, height: 1 };
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

function framePiece(now: Uint32Array, before: Uint32Array | undefined, size: Size, hundredths: number): Uint8Array {
  const box = changed(now, before, size);
  const colors = gifColors(now, before, size.width, box);
  const control = Buffer.from([0x21, 0xf9, 4, 0x05, 0, 0, colors.clear, 0]);
  control.writeUInt16LE(hundredths, 4);
  const place = Buffer.alloc(10);
  place[0] = 0x2c;
  place.writeUInt16LE(box.x, 1);
  place.writeUInt16LE(box.y, 3);
  place.writeUInt16LE(box.width, 5);
  place.writeUInt16LE(box.height, 7);
  place[9] = 0x80 | (colors.bits - 1);
  const data = lzw(colors.values, Math.max(2, colors.bits));
  return Buffer.concat([control, place, table(colors), Uint8Array.of(Math.max(2, colors.bits)), data]);
}

function table({ list, bits }: GifColors): Uint8Array {
  const bytes = new Uint8Array(3 << bits);
  list.forEach((color, index) => bytes.set([(color >>> 16) & 255, (color >>> 8) & 255, color & 255], index * 3));
  return bytes;
}
