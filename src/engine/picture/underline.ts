import { underline } from '../screen/grid.ts';

/** A filled rectangle: whole pixels from (x0, y0) up to but without (x1, y1). */
export interface Rect {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

/** Points from the top of a row; it has 17. */
const line = 15;
/** Points of a wave from crest to crest, and of a dash with its gap. */
const wave = 6;
const dash = { length: 4, every: 6 };

/**
 * The underline of one cell. `kind` is one of `underline`, or 0 for a single one; `left` is where the row begins, so that waves
 * and dashes go on from cell to cell.
 */
export function underlineBars(
  kind: number,
  cell: { x0: number; x1: number; y: number },
  left: number,
  scale: number,
): Rect[] {
  const { x0, x1, y } = cell;
  const bar = (points: number, from = x0, to = x1): Rect => {
    const y0 = y + Math.round(points * scale);
    return { x0: from, y0, x1: to, y1: y0 + scale };
  };
  if (kind === underline.double) return [bar(line - 1), bar(line + 1)];
  if (kind === underline.curly) {
    const period = wave * scale;
    const height = (x: number): number => Math.sin(((((x - left) % period) + 0.5) / period) * 2 * Math.PI);
    return columns(x0, x1, (x) => bar(line + height(x), x, x + 1));
  }
  const point = (x: number): number => Math.floor((x - left) / scale);
  if (kind === underline.dotted) return columns(x0, x1, (x) => (point(x) % 2 === 0 ? bar(line, x, x + 1) : undefined));
  if (kind === underline.dashed) {
    return columns(x0, x1, (x) => (point(x) % dash.every < dash.length ? bar(line, x, x + 1) : undefined));
  }
  return [bar(line)];
}

function columns(from: number, to: number, at: (x: number) => Rect | undefined): Rect[] {
  return Array.from({ length: to - from }, (_, index) => at(from + index)).filter((rect) => rect !== undefined);
}
