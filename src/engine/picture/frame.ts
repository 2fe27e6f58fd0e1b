import { mix, paletteOf, parseColor } from './color.ts';
import { frameRadius, frameTop, type Geometry } from './geometry.ts';
import type { Surface } from './surface.ts';

/** Shades along a curved edge: enough to look round, few enough to leave the list of colours to the text. */
const edgeSteps = 7;
const buttons = ['#ff5f57', '#febc2e', '#28c840'].map(parseColor);
const buttonRadius = 6;
const firstButton = 22;
const buttonDistance = 20;

/** The most colours a frame adds to a picture. */
export const frameColors = (buttons.length + 1) * edgeSteps + 1;

/** The window around the screen: three buttons on top, and round corners with nothing outside them. */
export function paintFrame(surface: Surface, { scale, theme }: Geometry): void {
  const { background } = paletteOf(theme);
  buttons.forEach((color, index) => {
    const centreX = (firstButton + index * buttonDistance) * scale;
    const centreY = (frameTop / 2) * scale;
    disc(surface, centreX, centreY, buttonRadius * scale, (covered) =>
      surface.numberOf(mix(color, background, covered)),
    );
  });
  const radius = frameRadius * scale;
  for (let y = 0; y < radius; y++) {
    for (let x = 0; x < radius; x++) {
      const covered = stepped(radius - Math.hypot(radius - x - 0.5, radius - y - 0.5) + 0.5);
      if (covered === 1) continue;
      const value = covered === 0 ? surface.numberOf(0, 0) : surface.numberOf(background, Math.round(covered * 255));
      for (const [px, py] of [
        [x, y],
        [surface.width - 1 - x, y],
        [x, surface.height - 1 - y],
        [surface.width - 1 - x, surface.height - 1 - y],
      ] as const) {
        surface.data[surface.origin + py * surface.stride + px] = value;
      }
    }
  }
}

function disc(surface: Surface, cx: number, cy: number, radius: number, number: (covered: number) => number): void {
  for (let y = cy - radius; y < cy + radius; y++) {
    for (let x = cx - radius; x < cx + radius; x++) {
      const covered = stepped(radius - Math.hypot(x + 0.5 - cx, y + 0.5 - cy) + 0.5);
      if (covered > 0) surface.data[surface.origin + y * surface.stride + x] = number(covered);
    }
  }
}

const stepped = (covered: number): number => Math.round(Math.min(1, Math.max(0, covered)) * edgeSteps) / edgeSteps;
