import { randomBytes } from 'node:crypto';
import type { PictureOptions } from './geometry.ts';
import { PictureFolder, stampOf } from './picture-folder.ts';
import type { Theme } from './themes.ts';
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
  readonly folder: PictureFolder;
  readonly #theme: () => Theme;

  /** `theme`: the colours of a picture whose request names none. */
  constructor(dir: string, theme: () => Theme) {
    this.folder = new PictureFolder(dir);
    this.#theme = theme;
  }

  async take(terminal: Terminal, request: PictureRequest, signal: AbortSignal): Promise<SavedPicture> {
    // Drawing loads a native canvas; a server that is never asked for a picture never pays for it.
    const { drawPng } = await import('./png.ts');
    await terminal.sync(signal);
    const { theme = this.#theme() } = request;
    const { bytes, width, height } = await drawPng(terminal.screen.grid(), { ...request, theme }, signal);
    const now = terminal.clock.now();
    const name = `${stampOf(now)}-${terminal.id}-${randomBytes(2).toString('hex')}.png`;
    const path = await this.folder.saveAs(name, bytes, now);
    return { path, width, height, sizeBytes: bytes.length, bytes };
  }
}
