import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import { makeDirectory } from '../../system/files/directories.ts';
import { removeFile } from '../../system/files/remove-file.ts';

/** `kind_20260131_235959_123.png`: the date and time are UTC. Other files in the folder are a person's own. */
const namePattern = /^(?:[a-z]+_)?(\d{8}_\d{6}_\d{3})(?:-[\w-]+)?\.png$/;
const mostFiles = 500;
const longestMs = 30 * 24 * 3600_000;
/** Two pictures of one millisecond get names of different ones. */
const mostTries = 1000;

/** Where pictures are kept for people to open: private files, the newest 500 of the last 30 days. */
export class PictureFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Saves a picture taken at this time as `<kind>_<time>.png`, or the next free millisecond. Resolves with its path. */
  async save(kind: string, bytes: Uint8Array, now: number): Promise<string> {
    return await this.#write((tried) => `${kind}_${stampOf(now + tried)}.png`, bytes, now);
  }

  /** The same under a name of the caller's that begins with `stampOf(now)`. */
  async saveAs(name: string, bytes: Uint8Array, now: number): Promise<string> {
    return await this.#write(() => name, bytes, now);
  }

  async #write(nameOf: (tried: number) => string, bytes: Uint8Array, now: number): Promise<string> {
    try {
      await makeDirectory(this.path, 0o700);
      for (let tried = 0; ; tried++) {
        const path = join(this.path, nameOf(tried));
        try {
          await writeFile(path, bytes, { mode: 0o600, flag: 'wx' });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'EEXIST' && tried < mostTries) continue;
          throw error;
        }
        await this.#prune(path, now);
        return path;
      }
    } catch (cause) {
      throw new FairleadError('unavailable', `The picture could not be written to ${this.path}.`, {
        hint: 'Check that the directory can be written and the disk has room.',
        cause,
      });
    }
  }

  /** Removes the oldest pictures by the time in their names; never the one just written, and nothing with another kind of name. */
  async #prune(written: string, now: number): Promise<void> {
    const dated = (await readdir(this.path)).flatMap((name) => {
      const [, stamp] = namePattern.exec(name) ?? [];
      return stamp === undefined || join(this.path, name) === written ? [] : [{ name, stamp }];
    });
    const oldest = stampOf(now - longestMs);
    const newestFirst = dated.toSorted((a, b) => (a.stamp < b.stamp ? 1 : a.stamp > b.stamp ? -1 : 0));
    const gone = newestFirst.filter(({ stamp }, at) => at >= mostFiles - 1 || stamp < oldest);
    // Another instance may prune the same folder, and a file that cannot be removed is no reason to lose a picture.
    for (const { name } of gone) await removeFile(join(this.path, name)).catch(() => {});
  }
}

/** `20260131_235959_123` */
export function stampOf(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[-:]/g, '').replace('T', '_').replace('.', '_').replace('Z', '');
}
