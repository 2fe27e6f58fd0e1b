/** WCAG 2 contrast. Colours are `#rrggbb`. */

const channels = (color: string): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = channels(color).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** A colour on the way from one to the other. */
export function between(from: string, to: string, share = 0.35): string {
  const end = channels(to);
  const mixed = channels(from).map((value, at) => Math.round(value + ((end[at] ?? value) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** The colour, or the nearest one towards black or white that can be read on this ground: as xterm.js corrects its cells. */
export function readable(color: string, ground: string, least = 4.5): string {
  if (!/^#[0-9a-f]{6}$/i.test(color) || !/^#[0-9a-f]{6}$/i.test(ground)) return color;
  const toward = contrast('#ffffff', ground) >= contrast('#000000', ground) ? '#ffffff' : '#000000';
  for (let step = 0; step <= 20; step++) {
    const next = between(color, toward, step / 20);
    if (contrast(next, ground) >= least) return next;
  }
  return toward;
}
