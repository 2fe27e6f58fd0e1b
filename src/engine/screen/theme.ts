/** The colours a program is told when it asks for them, as 0xRRGGBB. */
export interface ScreenColors {
  readonly foreground: number;
  readonly background: number;
  readonly cursor: number;
  /** The first 16 palette colours; the other 240 are the same everywhere. */
  readonly palette: readonly number[];
}

export const darkTheme: ScreenColors = {
  foreground: 0xd4d4d4,
  background: 0x1e1e1e,
  cursor: 0xd4d4d4,
  palette: [
    0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xe5e5e5, 0x666666, 0xf14c4c, 0x23d18b,
    0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xffffff,
  ],
};

const cubeSteps = [0, 95, 135, 175, 215, 255];

/** Palette colour 0–255: the theme's 16, then a 6×6×6 cube, then 24 greys. */
export function paletteColor(theme: ScreenColors, index: number): number {
  if (index < 16) return theme.palette[index] ?? 0;
  if (index < 232) {
    const i = index - 16;
    const step = (n: number): number => cubeSteps[n % 6] as number;
    return (step(Math.floor(i / 36)) << 16) | (step(Math.floor(i / 6)) << 8) | step(i);
  }
  return (8 + (index - 232) * 10) * 0x010101;
}
