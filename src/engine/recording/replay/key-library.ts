import { stat } from 'node:fs/promises';
import type { Redactor } from '../../redaction/redactor.ts';
import type { CastInfo } from '../cast/cast-reader.ts';
import { type Keyframe, readKeys } from '../keyframes/keyframe.ts';
import { currentKeys, rebuildKeys } from '../keyframes/keys-file.ts';
import type { LibraryEntry } from '../library.ts';

interface KeyLibraryOptions {
  readonly redactor: () => Redactor;
  readonly closing: AbortSignal;
}

interface ReadFile {
  readonly stamp: string;
  readonly keys: readonly Keyframe[];
}

/** Of so many casts the keyframes stay in memory: a page that seeks asks for the same ones again and again. */
const mostKept = 4;

/** The keyframes of casts, read once for each state of their files. */
export class KeyLibrary {
  readonly #options: KeyLibraryOptions;
  /** Keyframes that are being made, by the path of their cast: two readers share the work. */
  readonly #making = new Map<string, Promise<readonly Keyframe[]>>();
  readonly #read = new Map<string, ReadFile>();

  constructor(options: KeyLibraryOptions) {
    this.#options = options;
  }

  async keys(cast: LibraryEntry, info: CastInfo): Promise<readonly Keyframe[]> {
    // What is being recorded gets its keyframes from the recorder; those it has are good, and the rest is played.
    const isOver = cast.state === 'finished';
    const path = isOver ? cast.files.keys : cast.files.partKeys;
    const stamp = `${await stampOf(path)} ${isOver ? await stampOf(cast.path) : ''}`;
    const known = this.#read.get(path);
    if (known?.stamp === stamp) return known.keys;
    if (!isOver) return this.#keep(path, stamp, (await readKeys(path))?.keys ?? []);
    const current = await currentKeys(keyedCast(cast, info));
    return current ? this.#keep(path, stamp, current) : await this.#make(cast, info);
  }

  #keep(path: string, stamp: string, keys: readonly Keyframe[]): readonly Keyframe[] {
    this.#read.delete(path);
    this.#read.set(path, { stamp, keys });
    const [oldest] = this.#read.keys();
    if (this.#read.size > mostKept && oldest !== undefined) this.#read.delete(oldest);
    return keys;
  }

  #make(cast: LibraryEntry, info: CastInfo): Promise<readonly Keyframe[]> {
    const { redactor, closing } = this.#options;
    let making = this.#making.get(cast.path);
    if (making === undefined) {
      making = rebuildKeys(keyedCast(cast, info), redactor(), closing);
      this.#making.set(cast.path, making);
      making.catch(() => {}).finally(() => this.#making.delete(cast.path));
    }
    return making;
  }
}

const stampOf = async (path: string): Promise<string> => {
  const found = await stat(path).catch(() => undefined);
  return found ? `${found.mtimeMs} ${found.size}` : '';
};

const keyedCast = ({ path, files, startTime }: LibraryEntry, info: CastInfo) => ({
  path,
  keys: files.keys,
  info,
  startTime,
});
