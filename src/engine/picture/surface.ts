import type { Rgb } from './color.ts';

/** Pixels that are numbers into a list of at most 256 colours. What nearly every screen becomes. */
export interface IndexedPixels {
  readonly kind: 'indexed';
  readonly width: number;
  readonly height: number;
  /** From one row to the next. Each row begins with one byte that is no pixel: PNG wants its filter number there, 0. */
  readonly stride: number;
  readonly data: Uint8Array;
  /** 0xAARRGGBB. */
  readonly colors: readonly number[];
}

/** Pixels of 0xAARRGGBB, for screens of more colours. */
export interface TruePixels {
  readonly kind: 'true';
  readonly width: number;
  readonly height: number;
  readonly data: Uint32Array;
  /** No pixel lets anything through. */
  readonly opaque: boolean;
}

export type Pixels = IndexedPixels | TruePixels;

export const maxColors = 256;

/** Somewhere to paint. A pixel is a number; what it stands for is the surface's own business. */
export interface Surface {
  readonly width: number;
  readonly height: number;
  readonly stride: number;
  /** The place of the upper left pixel. */
  readonly origin: number;
  readonly data: Uint8Array | Uint32Array;
  /** The number that stands for a colour, or for the nearest one when the list is full. */
  numberOf(color: Rgb, alpha?: number): number;
  pixels(): Pixels;
}

/** What is never painted has the colour that was numbered first. */
export function indexedSurface(width: number, height: number): Surface {
  const stride = width + 1;
  const data = new Uint8Array(stride * height);
  const colors: number[] = [];
  const known = new Map<number, number>();
  const numberOf = (color: Rgb, alpha = 255): number => {
    const argb = ((alpha << 24) | color) >>> 0;
    let index = known.get(argb);
    if (index === undefined) {
      index = colors.length < maxColors ? colors.push(argb) - 1 : nearest(colors, argb);
      known.set(argb, index);
    }
    return index;
  };
  return {
    width,
    height,
    stride,
    origin: 1,
    data,
    numberOf,
    pixels: () => ({ kind: 'indexed', width, height, stride, data, colors }),
  };
}

/** What is never painted is clear. */
export function trueSurface(width: number, height: number): Surface {
  let opaque = true;
  const numberOf = (color: Rgb, alpha = 255): number => {
    if (alpha < 255) opaque = false;
    return ((alpha << 24) | color) >>> 0;
  };
  const data = new Uint32Array(width * height);
  return {
    width,
    height,
    stride: width,
    origin: 0,
    data,
    numberOf,
    pixels: () => ({ kind: 'true', width, height, data, opaque }),
  };
}

export function nearest(colors: readonly number[], argb: number): number {
  let best = 0;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (let index = 0; index < colors.length; index++) {
    const color = colors[index] as number;
    const alpha = (color >>> 24) - (argb >>> 24);
    const red = ((color >>> 16) & 255) - ((argb >>> 16) & 255);
    const green = ((color >>> 8) & 255) - ((argb >>> 8) & 255);
    const blue = (color & 255) - (argb & 255);
    const distance = alpha * alpha + red * red + green * green + blue * blue;
    if (distance < bestDistance) {
      bestDistance = distance;
      best = index;
    }
  }
  return best;
}

/** Whole pixels from (x0, y0) up to but without (x1, y1). */
export function fillRect(surface: Surface, x0: number, y0: number, x1: number, y1: number, value: number): void {
  const { data, stride, origin } = surface;
  for (let y = y0; y < y1; y++) data.fill(value, origin + y * stride + x0, origin + y * stride + x1);
}
