import { type Color, trueColor } from '../screen/grid.ts';
import type { ScreenColors } from '../screen/theme.ts';
import type { Theme } from './themes.ts';

/** A colour as 0xRRGGBB. */
export type Rgb = number;

/** A theme's colours as numbers, ready to draw with. */
export interface Palette {
  readonly foreground: Rgb;
  readonly background: Rgb;
  readonly cursor: Rgb;
  readonly indexed: readonly Rgb[];
}

const palettes = new WeakMap<Theme, Palette>();

export function paletteOf(theme: Theme): Palette {
  let palette = palettes.get(theme);
  if (palette === undefined) {
    palette = {
      foreground: parseColor(theme.foreground),
      background: parseColor(theme.background),
      cursor: parseColor(theme.cursor),
      indexed: [...theme.colors.map(parseColor), ...cube(), ...greys()],
    };
    palettes.set(theme, palette);
  }
  return palette;
}

export function rgbOf(color: Color, palette: Palette, fallback: Rgb): Rgb {
  if (color >= trueColor) return color & 0xffffff;
  return palette.indexed[color] ?? fallback;
}

/** `amount` of `over` on `under`, 0 to 1. */
export function mix(over: Rgb, under: Rgb, amount: number): Rgb {
  const channel = (shift: number): number => {
    const below = (under >> shift) & 255;
    return Math.round(below + (((over >> shift) & 255) - below) * amount) << shift;
  };
  return channel(16) | channel(8) | channel(0);
}

export const parseColor = (hex: string): Rgb => Number.parseInt(hex.slice(1), 16);

/** 16–231: six steps a channel, as xterm spaces them. */
function cube(): Rgb[] {
  const steps = [0, 95, 135, 175, 215, 255];
  return steps.flatMap((r) => steps.flatMap((g) => steps.map((b) => (r << 16) | (g << 8) | b)));
}

/** 232–255. */
function greys(): Rgb[] {
  return Array.from({ length: 24 }, (_, step) => (8 + 10 * step) * 0x010101);
}

/** The same colours as a program is told them. */
export const screenColors = ({ foreground, background, cursor, colors }: Theme): ScreenColors => ({
  foreground: parseColor(foreground),
  background: parseColor(background),
  cursor: parseColor(cursor),
  palette: colors.map(parseColor),
});
