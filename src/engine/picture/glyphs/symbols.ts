import type { MaskPainter } from './mask.ts';

/**
 * Signs that agents' programs are full of and that the bundled fonts lack, or have only as coloured emoji: corners, scan lines,
 * and the buttons of players (⏵ ⏸ ⏹ ⏺) in the colour of the text.
 */
export const isSymbol = (text: string): boolean =>
  Object.hasOwn(symbols, text.codePointAt(0) ?? 0) && !text.includes(emojiSelector);

/** Asks for the emoji of a sign that is text by itself. */
const emojiSelector = '\ufe0f';

export function paintSymbol(painter: MaskPainter, code: number, scale: number): void {
  symbols[code]?.(painter, scale);
}

type Paint = (painter: MaskPainter, scale: number) => void;
/** Parts of the width and of the height of a cell. */
type Point = readonly [x: number, y: number];

/** Where letters stand, in parts of a cell's height. */
const baseline = 13 / 17;
const top = 0.3;
const bottom = baseline;
const middle = (top + bottom) / 2;

const across =
  (height: number, from = 0): Paint =>
  (painter, scale) => {
    const y = Math.min(painter.height - scale, Math.round(painter.height * height - scale / 2));
    painter.rect(Math.round((painter.width - scale) * from), Math.max(0, y), painter.width, Math.max(0, y) + scale);
  };
const down =
  (place: number, from = 0, to = 1): Paint =>
  (painter, scale) => {
    const x = Math.round((painter.width - scale) * place);
    painter.rect(x, Math.round(painter.height * from), x + scale, Math.round(painter.height * to));
  };
const all =
  (...parts: readonly Paint[]): Paint =>
  (painter, scale) => {
    for (const part of parts) part(painter, scale);
  };
const block =
  (left: number, right: number): Paint =>
  (painter) => {
    const { width, height } = painter;
    painter.rect(
      Math.round(left * width),
      Math.round(top * height),
      Math.round(right * width),
      Math.round(bottom * height),
    );
  };

/** A filled polygon without dents, its corners in the order of the clock. */
const filled =
  (...corners: readonly Point[]): Paint =>
  (painter) => {
    const points = corners.map(([x, y]) => [x * painter.width, y * painter.height] as const);
    painter.inside((x, y) =>
      Math.min(
        ...points.map(([x0, y0], at) => {
          const [x1, y1] = points[(at + 1) % points.length] ?? [x0, y0];
          return ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) / Math.hypot(x1 - x0, y1 - y0);
        }),
      ),
    );
  };
const toRight = (left: number, right: number): Paint => filled([left, top], [right, middle], [left, bottom]);
const toLeft = (left: number, right: number): Paint => filled([right, top], [right, bottom], [left, middle]);

const disc: Paint = (painter) => {
  const { width, height } = painter;
  painter.inside((x, y) => width * 0.44 - Math.hypot(x - width / 2, y - middle * height));
};

const symbols: Readonly<Record<number, Paint>> = {
  0x23af: across(0.5),
  0x23b8: down(0),
  0x23b9: down(1),
  0x23ba: across(0),
  0x23bb: across(0.25),
  0x23bc: across(0.75),
  0x23bd: across(1),
  0x23be: all(down(0.5, 0.2), across(0.2, 0.5)),
  0x23bf: all(down(0.5, 0, baseline), across(baseline, 0.5)),
  0x23d0: down(0.5),
  0x23ed: all(toRight(0.02, 0.46), toRight(0.42, 0.86), block(0.84, 0.98)),
  0x23ee: all(block(0.02, 0.16), toLeft(0.14, 0.58), toLeft(0.54, 0.98)),
  0x23ef: all(toRight(0.02, 0.5), block(0.56, 0.72), block(0.82, 0.98)),
  0x23f4: toLeft(0.08, 0.92),
  0x23f5: toRight(0.08, 0.92),
  0x23f6: filled([0.5, top], [0.96, bottom], [0.04, bottom]),
  0x23f7: filled([0.04, top], [0.96, top], [0.5, bottom]),
  0x23f8: all(block(0.12, 0.4), block(0.6, 0.88)),
  0x23f9: block(0.06, 0.94),
  0x23fa: disc,
};
