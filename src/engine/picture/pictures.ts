import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import { makeDirectory } from '../../system/files/directories.ts';
import type { PictureOptions } from './geometry.ts';
import type { Terminal } from '../terminal/terminal.ts';

type PictureRequest = Pick<
  PictureOptions,
  'theme' | 'scale' | 'widest' | 'chrome' | 'fontFamily' | 'fromRow' | 'rowCount'
>;

interface SavedPicture {
  readonly path: string;
  readonly width: number;
  readonly height: number;
  readonly sizeBytes: number;
  readonly bytes: Uint8Array;
}

/** Pictures of terminals, drawn from their cells and kept as files a person can open. */
export class Pictures {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async take(terminal: Terminal, request: PictureRequest, signal: AbortSignal): Promise<SavedPicture> {
    // Drawing loads a native canvas; a server that is never asked for a picture never pays for it.
    const { drawPng } = await import('./png.ts');
    await terminal.sync(signal);
    const { bytes, width, height } = await drawPng(terminal.screen.grid(), request, signal);
    const path = join(this.#dir, `${stamp(terminal.clock.now())}-${terminal.id}-${randomBytes(2).toString('hex')}.png`);
    try {
      await makeDirectory(this.#dir, 0o700);
      await writeFile(path, bytes, { mode: 0o600, flag: 'wx' });
    } catch (cause) {
      throw new FairleadError('unavailable', `The picture could not be written to ${this.#dir}.`, {
        hint: 'Check that the directory can be written and the disk has room.',
        cause,
      });
    }
    return { path, width, height, sizeBytes: bytes.length, bytes };
  }
}

function stamp(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[-:]/g, '').replace('T', '_').replace('.', '_').replace('Z', '');
}
