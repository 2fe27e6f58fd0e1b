import { inflateSync } from 'node:zlib';
import { type Cell, defaultColor, type Grid } from '../../src/engine/screen/grid.ts';

/** What tests of pictures share: grids written by hand, and a PNG reader that is not the writer turned round. */

export interface Look {
  readonly fg?: number;
  readonly bg?: number;
  readonly style?: number;
}

export function cell(text: string, look: Look = {}, width: 0 | 1 | 2 = 1): Cell {
  return { text, width, fg: look.fg ?? defaultColor, bg: look.bg ?? defaultColor, style: look.style ?? 0 };
}

/** One cell a character; wide ones are made with `wide`. */
export const text = (characters: string, look: Look = {}): Cell[] =>
  Array.from(characters).map((each) => cell(each, look));

export const wide = (character: string, look: Look = {}): Cell[] => [cell(character, look, 2), cell('', look, 0)];

export function gridOf(rows: readonly (readonly Cell[])[], cols: number, cursor: Partial<Grid['cursor']> = {}): Grid {
  return {
    cols,
    rows: rows.length,
    lines: rows.map((cells) => ({
      cells: Array.from({ length: cols }, (_, at) => cells[at] ?? cell('')),
      wrapped: false,
    })),
    cursor: { x: 0, y: 0, visible: false, shape: 'block', ...cursor },
  };
}

export interface Decoded {
  readonly width: number;
  readonly height: number;
  /** `#rrggbb`, or `#rrggbbaa` where not opaque. */
  at(x: number, y: number): string;
}

/** Reads the kinds of PNG we write: eight bits, palette, RGB or RGBA, no filter or "up". */
export function decodePng(bytes: Uint8Array): Decoded {
  const file = Buffer.from(bytes);
  const parts: Buffer[] = [];
  let palette = Buffer.alloc(0);
  let alphas = Buffer.alloc(0);
  let header = Buffer.alloc(13);
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const data = file.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') header = data;
    else if (type === 'PLTE') palette = data;
    else if (type === 'tRNS') alphas = data;
    else if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const size = { 2: 3, 3: 1, 6: 4 }[header[9] ?? 0] ?? 0;
  const stride = width * size + 1;
  const raw = inflateSync(Buffer.concat(parts));
  for (let y = 0; y < height; y++) {
    const filter = raw[y * stride];
    if (filter !== 0 && filter !== 2) throw new Error(`filter ${filter}`);
    if (filter === 2 && y > 0) {
      for (let x = 1; x < stride; x++)
        raw[y * stride + x] = (raw[y * stride + x] ?? 0) + (raw[(y - 1) * stride + x] ?? 0);
    }
  }
  return {
    width,
    height,
    at(x, y) {
      const from = y * stride + 1 + x * size;
      const index = raw[from] ?? 0;
      const rgb = size === 1 ? palette.subarray(index * 3, index * 3 + 3) : raw.subarray(from, from + 3);
      const alpha = size === 4 ? (raw[from + 3] ?? 0) : size === 1 ? (alphas[index] ?? 255) : 255;
      return `#${rgb.toString('hex')}${alpha === 255 ? '' : alpha.toString(16).padStart(2, '0')}`;
    },
  };
}
