/** A picture of a terminal as data: what ansi text, PNG, recordings and differences are made from. */

/** -1 default; 0–255 palette; 0x1000000 + 0xRRGGBB true colour. */
export type Color = number;
export const defaultColor: Color = -1;
export const trueColor = 0x1000000;

/** Bits of `Cell.style`. */
export const style = {
  bold: 1,
  dim: 2,
  italic: 4,
  underline: 8,
  inverse: 16,
  strike: 32,
  blink: 64,
  invisible: 128,
  overline: 256,
} as const;

/** As in `CSI 4 : kind m`. */
export const underline = { single: 1, double: 2, curly: 3, dotted: 4, dashed: 5 } as const;
/** Above the bits of `style`, for underlined cells: which kind of underline, 0 for a single one. */
export const underlineShift = 9;
export const underlineKind = (bits: number): number => bits >> underlineShift;

export interface Cell {
  /** One grapheme; '' for a blank cell and for the second half of a wide character. */
  readonly text: string;
  /** 2 for a wide character, 0 for its second half, else 1. */
  readonly width: 0 | 1 | 2;
  readonly fg: Color;
  readonly bg: Color;
  readonly style: number;
  /** Of the underline, where it is not that of the text. */
  readonly underlineColor?: Color;
}

export interface Line {
  readonly cells: readonly Cell[];
  /** This line continues the one above it: the program wrote one long line. */
  readonly wrapped: boolean;
}

export interface Cursor {
  readonly x: number;
  /** Row within the viewport, from 0. */
  readonly y: number;
  readonly visible: boolean;
  readonly shape: 'block' | 'underline' | 'bar';
}

export interface Grid {
  readonly cols: number;
  readonly rows: number;
  readonly lines: readonly Line[];
  readonly cursor: Cursor;
}
