import { FairleadError } from '../../contract/errors.ts';
import type { Grid } from '../screen/grid.ts';
import type { PictureOptions } from './geometry.ts';
import { encodePng } from './png-file.ts';
import { drawPixels } from './raster.ts';

export interface Picture {
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
}

const maxBytes = 8 << 20;

/** A screen as a PNG file. The same grid, fonts and options give the same bytes. */
export async function drawPng(grid: Grid, options: PictureOptions, signal: AbortSignal): Promise<Picture> {
  const pixels = await drawPixels(grid, options, signal);
  const bytes = await encodePng(pixels, signal);
  signal.throwIfAborted();
  if (bytes.length > maxBytes) {
    throw new FairleadError('too_large', `The picture takes ${bytes.length} bytes; the limit is ${maxBytes}.`, {
      hint: 'Use a smaller scale, or ask for fewer rows with fromRow and rowCount.',
      data: { bytes: bytes.length, maxBytes },
    });
  }
  return { bytes, width: pixels.width, height: pixels.height };
}
