import { paintBox } from './box-drawing.ts';
import { type Mask, MaskPainter } from './mask.ts';
import { isSymbol, paintSymbol } from './symbols.ts';

/**
 * Characters whose look is a shape on the cell rather than a letter. Fonts draw them to their own size; drawn to the cell
 * they join without gaps at every scale.
 */
export function isShape(text: string): boolean {
  const code = text.codePointAt(0) ?? 0;
  return (
    isSymbol(text) ||
    (code >= 0x2500 && code <= 0x259f) ||
    (code >= 0x2800 && code <= 0x28ff) ||
    (code >= 0xe0b0 && code <= 0xe0b3) ||
    (code >= 0x1fb00 && code <= 0x1fb3b)
  );
}

/** The shape of `code` in a cell of `width` × `height` pixels whose left edge is `x` pixels from its whole-pixel origin. */
export function shapeMask(code: number, x: number, width: number, height: number, scale: number): Mask {
  const painter = new MaskPainter(width, height);
  if (code < 0x2500) paintSymbol(painter, code, scale);
  else if (code <= 0x257f) paintBox(painter, code, scale);
  else if (code <= 0x259f) paintBlock(painter, code);
  else if (code <= 0x28ff) paintBraille(painter, code - 0x2800);
  else if (code <= 0xe0b3) paintPowerline(painter, code, scale);
  else paintSextant(painter, code - 0x1fb00);
  return painter.mask(x, 0);
}

/** Each quadrant character's corners: 1 upper left, 2 upper right, 4 lower left, 8 lower right. From U+2596. */
const quadrants = [4, 8, 1, 13, 9, 7, 11, 2, 6, 14];
/** Light, medium and dark shade as even coverage: a dot pattern would flicker between scales. */
const shades = [4, 8, 11];

function paintBlock(painter: MaskPainter, code: number): void {
  const { width, height } = painter;
  const x = (eighths: number): number => Math.round((width * eighths) / 8);
  const y = (eighths: number): number => Math.round((height * eighths) / 8);
  if (code === 0x2580) painter.rect(0, 0, width, y(4));
  else if (code <= 0x2588) painter.rect(0, y(8 - (code - 0x2580)), width, height);
  else if (code <= 0x258f) painter.rect(0, 0, x(0x2590 - code), height);
  else if (code === 0x2590) painter.rect(x(4), 0, width, height);
  else if (code <= 0x2593) painter.rect(0, 0, width, height, shades[code - 0x2591]);
  else if (code === 0x2594) painter.rect(0, 0, width, y(1));
  else if (code === 0x2595) painter.rect(x(7), 0, width, height);
  else paintTiles(painter, 2, quadrants[code - 0x2596] ?? 0);
}

/** U+1FB00 on: two columns of three, every pattern but the ones that exist as block elements (none, left, right, all). */
function paintSextant(painter: MaskPainter, index: number): void {
  const skipped = (index >= 0x14 ? 1 : 0) + (index >= 0x28 ? 1 : 0);
  paintTiles(painter, 3, index + 1 + skipped);
}

/** Two columns of `rows` tiles; bit 0 is the upper left one, bit 1 its right neighbour. */
function paintTiles(painter: MaskPainter, rows: number, bits: number): void {
  const half = Math.round(painter.width / 2);
  const y = (row: number): number => Math.round((painter.height * row) / rows);
  for (let tile = 0; tile < rows * 2; tile++) {
    if ((bits & (1 << tile)) === 0) continue;
    const row = tile >> 1;
    if (tile % 2 === 0) painter.rect(0, y(row), half, y(row + 1));
    else painter.rect(half, y(row), painter.width, y(row + 1));
  }
}

/** Dots 1–8 of a braille pattern as column and row, in the order of the code point's bits. */
const brailleDots = [0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2, 0, 3, 1, 3];

function paintBraille(painter: MaskPainter, bits: number): void {
  const { width, height } = painter;
  const radius = width / 7;
  for (let dot = 0; dot < 8; dot++) {
    if ((bits & (1 << dot)) === 0) continue;
    const centreX = (width * (1 + 2 * (brailleDots[dot * 2] ?? 0))) / 4;
    const centreY = (height * (1 + 2 * (brailleDots[dot * 2 + 1] ?? 0))) / 8;
    painter.inside((x, y) => radius - Math.hypot(x - centreX, y - centreY));
  }
}

/** Filled and open arrows to the right and to the left. */
function paintPowerline(painter: MaskPainter, code: number, scale: number): void {
  const { width, height } = painter;
  const toRight = code < 0xe0b2;
  const slope = Math.hypot(width, height / 2);
  const depth = (x: number, y: number): number => {
    const along = toRight ? x : width - x;
    return ((height / 2) * (width - along) - width * Math.abs(y - height / 2)) / slope;
  };
  painter.inside(code % 2 === 0 ? depth : (x, y) => scale / 2 - Math.abs(depth(x, y) - scale / 2));
}
