import { FairleadError } from '../../contract/errors.ts';
import type { Grid } from '../screen/grid.ts';
import { mix, paletteOf, type Rgb } from './color.ts';
import { frameColors, paintFrame } from './frame.ts';
import { type Geometry, geometryOf, type PictureOptions } from './geometry.ts';
import { glyphCache } from './glyphs/glyphs.ts';
import { type Mask, topLevel } from './glyphs/mask.ts';
import { type Ink, type Placed, type Plan, planPicture } from './plan.ts';
import { fillRect, indexedSurface, maxColors, type Pixels, type Surface, trueSurface } from './surface.ts';
import { type Pause, pauses } from '../../system/turns.ts';

/** What is painted between two looks at the clock. */
const glyphsPerLook = 512;
const rowsPerLook = 64;
/** Colours kept free for emoji, which bring many. */
const emojiColors = 96;
/** A picture of more colours than a list holds takes seven bytes a pixel while it is drawn and written. */
const mostTruePixels = 16_000_000;

/** Draws a screen into memory. Gives the loop a turn every few milliseconds. */
export async function drawPixels(grid: Grid, options: PictureOptions, signal: AbortSignal): Promise<Pixels> {
  const pause = pauses(signal);
  const geometry = geometryOf(grid, options);
  const cache = glyphCache(geometry.fontFamily, geometry.scale, geometry.cellTenths, geometry.cellHeight);
  const plan = await planPicture(grid, geometry, cache, pause);
  const steps = stepsFor(plan, geometry);
  if (steps === undefined) refuseLarge(geometry);
  const surface = (steps === undefined ? trueSurface : indexedSurface)(geometry.width, geometry.height);
  await clear(surface, paletteOf(geometry.theme).background, pause);
  const ramps = plan.inks.map((ink) => rampOf(ink, surface, steps ?? topLevel));
  // Before the glyphs: emoji take what is left of the list of colours.
  if (geometry.chrome) paintFrame(surface, geometry);
  await paint(surface, plan, ramps, pause);
  return surface.pixels();
}

function refuseLarge({ width, height }: Geometry): void {
  if (width * height <= mostTruePixels) return;
  throw new FairleadError('too_large', `A picture of ${width} × ${height} pixels is too large for so many colours.`, {
    hint: 'Use a smaller scale, or ask for fewer rows.',
    data: { width, height, maxPixels: mostTruePixels },
  });
}

/** The finest shading with which all colours fit a list of 256, or undefined when none does. */
function stepsFor(plan: Plan, geometry: Geometry): number | undefined {
  const room =
    maxColors -
    (geometry.chrome ? frameColors : 0) -
    (plan.glyphs.some(({ mask }) => mask.rgba !== undefined) ? emojiColors : 0);
  for (const steps of [topLevel, 7, 5]) {
    const colors = new Set<number>();
    for (const { fg, bg, inked } of plan.inks) {
      colors.add(bg);
      if (inked) for (let level = 1; level <= steps; level++) colors.add(mix(fg, bg, level / steps));
      if (colors.size > room) break;
    }
    if (colors.size <= room) return steps;
  }
  return undefined;
}

/** The numbers for each level of an ink, from its ground to its full colour. */
function rampOf({ fg, bg, inked }: Ink, surface: Surface, steps: number): number[] {
  if (!inked) return [surface.numberOf(bg)];
  return Array.from({ length: topLevel + 1 }, (_, level) =>
    surface.numberOf(mix(fg, bg, Math.round((level * steps) / topLevel) / steps)),
  );
}

/** The ground of the whole picture. Fresh memory is zeros, and touching much of it takes long. */
async function clear(surface: Surface, ground: Rgb, pause: Pause): Promise<void> {
  const value = surface.numberOf(ground);
  if (value === 0) return;
  for (let y = 0; y < surface.height; y += rowsPerLook) {
    fillRect(surface, 0, y, surface.width, Math.min(surface.height, y + rowsPerLook), value);
    await pause();
  }
}

async function paint(surface: Surface, plan: Plan, ramps: readonly number[][], pause: Pause): Promise<void> {
  for (const { x0, y0, x1, y1, ink } of plan.grounds) {
    fillRect(surface, x0, y0, x1, y1, ramps[ink]?.[0] ?? 0);
    await pause();
  }
  for (let from = 0; from < plan.glyphs.length; from += glyphsPerLook) {
    paintGlyphs(surface, plan, ramps, from, Math.min(plan.glyphs.length, from + glyphsPerLook));
    await pause();
  }
  for (const { x0, y0, x1, y1, ink } of plan.lines) fillRect(surface, x0, y0, x1, y1, ramps[ink]?.[topLevel] ?? 0);
}

function paintGlyphs(surface: Surface, plan: Plan, ramps: readonly number[][], from: number, to: number): void {
  for (let index = from; index < to; index++) {
    const placed = plan.glyphs[index] as Placed;
    const ramp = ramps[placed.ink] as number[];
    const at = surface.origin + (placed.y + placed.mask.y) * surface.stride + placed.x + placed.mask.x;
    if (placed.mask.rgba === undefined) stamp(surface, placed.mask, at, ramp);
    else stampColors(surface, placed.mask, placed.mask.rgba, at, plan.inks[placed.ink]?.bg ?? 0);
  }
}

/** Half: from here a pixel of one glyph wins over what a neighbour left there. */
const strong = 8;

/** Masks lie inside the picture: its padding is wider than any overhang. */
export function stamp({ data, stride }: Surface, mask: Mask, at: number, ramp: readonly number[]): void {
  const { width, height, levels } = mask;
  const ground = ramp[0] as number;
  let from = 0;
  for (let y = 0, row = at; y < height; y++, row += stride) {
    for (let to = row, end = row + width; to < end; to++) {
      const level = levels[from++] as number;
      if (level !== 0 && (level >= strong || data[to] === ground)) data[to] = ramp[level] as number;
    }
  }
}

/** Flat areas are most of an emoji: a pixel like the one before it needs no mixing and no search for its number. */
function stampColors(surface: Surface, mask: Mask, rgba: Uint8Array, at: number, ground: number): void {
  const { data, stride } = surface;
  let before = 0;
  let value = 0;
  for (let y = 0, from = 0; y < mask.height; y++) {
    for (let x = 0; x < mask.width; x++, from += 4) {
      const alpha = rgba[from + 3] as number;
      if (alpha === 0) continue;
      const color = ((rgba[from] as number) << 16) | ((rgba[from + 1] as number) << 8) | (rgba[from + 2] as number);
      const pixel = (alpha << 24) | color;
      if (pixel !== before) {
        before = pixel;
        value = surface.numberOf(alpha === 255 ? color : over(color, ground, 1 - alpha / 255));
      }
      data[at + y * stride + x] = value;
    }
  }
}

/** A premultiplied colour on a ground of which a share shines through. */
function over(color: Rgb, ground: Rgb, through: number): Rgb {
  let mixed = 0;
  for (let shift = 16; shift >= 0; shift -= 8) {
    mixed = (mixed << 8) | Math.min(255, Math.round(((color >> shift) & 255) + ((ground >> shift) & 255) * through));
  }
  return mixed;
}
