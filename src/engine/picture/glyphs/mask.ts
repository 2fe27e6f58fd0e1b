/** How much of each pixel a shape covers, in steps of a fifteenth. Placed against the whole pixel left of its cell's edge. */
export interface Mask {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly levels: Uint8Array;
  /** A glyph with colours of its own, such as an emoji: RGBA, premultiplied. Its levels are then only its alpha. */
  readonly rgba?: Uint8Array | undefined;
}

/** Coverage is kept in four bits: finer steps cannot be seen, and sixteen shades of one text fit a small palette. */
export const topLevel = 15;

export const emptyMask: Mask = { x: 0, y: 0, width: 0, height: 0, levels: new Uint8Array(0) };

/** A mask that is being drawn: rectangles add, nothing takes away. */
export class MaskPainter {
  readonly width: number;
  readonly height: number;
  readonly #levels: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.#levels = new Uint8Array(width * height);
  }

  /** Whole pixels from (x0, y0) up to but without (x1, y1); parts outside are ignored. */
  rect(x0: number, y0: number, x1: number, y1: number, level: number = topLevel): void {
    const right = Math.min(this.width, x1);
    const bottom = Math.min(this.height, y1);
    for (let y = Math.max(0, y0); y < bottom; y++) {
      const from = y * this.width;
      this.#levels.fill(level, from + Math.max(0, x0), from + Math.max(0, right));
    }
  }

  /** Colours each pixel by how far its middle is inside a shape: 0.5 or more is covered, -0.5 or less is not. */
  inside(distance: (x: number, y: number) => number): void {
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) {
        const covered = Math.min(1, Math.max(0, distance(x + 0.5, y + 0.5) + 0.5));
        const at = y * this.width + x;
        this.#levels[at] = Math.max(this.#levels[at] ?? 0, Math.round(covered * topLevel));
      }
    }
  }

  mask(x: number, y: number): Mask {
    return { x, y, width: this.width, height: this.height, levels: this.#levels };
  }
}
