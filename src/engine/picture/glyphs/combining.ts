import type { SKRSContext2D } from '@napi-rs/canvas';

/** A part of a grapheme, and how far right of its origin it is drawn. */
export interface GraphemePart {
  readonly text: string;
  readonly x: number;
}

/** Marks that stand on, under or in the letter before them. */
const marks = /[\p{Mn}\p{Me}]/u;
export const hasMarks = (text: string): boolean => text.length > 1 && marks.test(text);

/**
 * A letter with its marks. A font composes only those it was made for, and sets any other beside the letter, as one of its
 * own: such a mark is drawn over the letter instead.
 */
export function composed(context: SKRSContext2D, text: string): readonly [GraphemePart, ...GraphemePart[]] {
  const [base = '', ...rest] = Array.from(text);
  const { width, actualBoundingBoxRight: right } = context.measureText(base);
  const most = right + width / 3;
  let letter = base;
  const over: GraphemePart[] = [];
  for (const sign of rest) {
    if (!marks.test(sign) || context.measureText(letter + sign).actualBoundingBoxRight <= most) letter += sign;
    else over.push({ text: sign, x: placeOf(context, sign, width) });
  }
  return [{ text: letter, x: 0 }, ...over];
}

/** Some fonts draw a mark to the left of where it stands, for the letter before it; others as wide as a letter. */
function placeOf(context: SKRSContext2D, mark: string, width: number): number {
  const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right } = context.measureText(mark);
  return right - left < 0 ? width : 0;
}
