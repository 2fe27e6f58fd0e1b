import { pauses } from '../../../system/turns.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import type { CastInfo } from '../cast/cast-reader.ts';
import type { ReplayEntry } from './entries.ts';
import { OutlineMaker } from './outline-maker.ts';

interface ReadParts {
  readonly info: CastInfo;
  readonly redactor: Redactor;
  readonly closing: AbortSignal;
}

interface KnownOutline {
  readonly maker: OutlineMaker;
  readonly redactor: Redactor;
  readonly state: ReplayEntry['state'];
  /** Size of the file up to which it was read. */
  bytes: number;
  reading: Promise<OutlineMaker>;
}

const mostKept = 8;

/** Recordings that were read, each once; one that grows is read on. */
export class OutlineLibrary implements Disposable {
  readonly #known = new Map<string, KnownOutline>();

  /** Work that callers share: one that leaves does not end it. */
  read(entry: ReplayEntry, parts: ReadParts): Promise<OutlineMaker> {
    const { path = '', state, bytes, kind, log } = entry;
    const { info, redactor, closing } = parts;
    const key = `${entry.id} ${path}`;
    let known = this.#known.get(key);
    const isSame = known?.redactor === redactor && known.state === state && known.bytes <= bytes;
    if (known && isSame && known.bytes === bytes) return this.#touch(key, known);
    const isNew = !known || !isSame;
    if (!known || isNew) {
      if (known) this.#drop(key);
      const maker = new OutlineMaker({ path, kind, info, redactor, fromOffset: log?.from_offset });
      known = { maker, redactor, state, bytes, reading: Promise.resolve(maker) };
      this.#known.set(key, known);
    }
    const { maker } = known;
    known.bytes = bytes;
    known.reading = maker.grow(state !== 'recording', pauses(closing)).then(() => maker);
    known.reading.catch(() => this.#drop(key));
    return this.#touch(key, known);
  }

  [Symbol.dispose](): void {
    for (const key of this.#known.keys()) this.#drop(key);
  }

  #touch(key: string, known: KnownOutline): Promise<OutlineMaker> {
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostKept && oldest !== undefined) this.#drop(oldest);
    return known.reading;
  }

  #drop(key: string): void {
    const known = this.#known.get(key);
    this.#known.delete(key);
    // Who waits for it still uses it.
    known?.reading.catch(() => {}).finally(() => known.maker[Symbol.dispose]());
  }
}
