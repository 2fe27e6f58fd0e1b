import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { z } from 'zod';

const Count = z.number().int().min(0);

const Place = z.object({
  /** Grows with each one written. */
  number: Count,
  /** Bytes of the part file. */
  pos: Count,
  /** Offset in the terminal's log that follows them; absent when the cast has no output yet. */
  off: Count.optional(),
  /** When the recording began, in milliseconds since the epoch. */
  began: z.number(),
  time: z.object({ cast: Count, real: Count }),
  size: z.object({ cols: Count, rows: Count }),
  redactions: Count,
});
/** How far a recording has come: with the log of the terminal, another process can go on from here. */
export type RecordedPlace = Omit<z.output<typeof Place>, 'number'>;

/** Two records take turns, so that a write that is cut short leaves the one before. */
const slotBytes = 512;
const slots = 2;

/** Keeps the newest place of a recording on disk. Written after the bytes it speaks of. */
export class PlaceFile {
  readonly #handle: FileHandle;
  #number: number;
  #next: RecordedPlace | undefined;
  #writing: Promise<void> | undefined;

  private constructor(handle: FileHandle, number: number) {
    this.#handle = handle;
    this.#number = number;
  }

  /** `after` is the number of the last one that was written. */
  static async open(path: string, after = 0): Promise<PlaceFile> {
    return new PlaceFile(await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600), after);
  }

  /** Does not wait: of several, the last counts. */
  note(place: RecordedPlace): void {
    this.#next = place;
    this.#writing ??= this.#drain();
  }

  async close(): Promise<void> {
    this.#next = undefined;
    await this.#writing;
    await this.#handle.close().catch(() => {});
  }

  async #drain(): Promise<void> {
    try {
      for (let place = this.#next; place !== undefined; place = this.#next) {
        this.#next = undefined;
        const number = ++this.#number;
        const record = Buffer.from(
          JSON.stringify({ number, ...place })
            .padEnd(slotBytes - 1)
            .concat('\n'),
        );
        await this.#handle.write(record, 0, record.length, ((number - 1) % slots) * slotBytes);
      }
    } catch {
      // A full disk ends the recording by its own file; the place before this one stays good.
    } finally {
      this.#writing = undefined;
    }
  }
}

/** The newest place that a part file of this size has reached. */
export async function readPlace(
  path: string,
  bytes: number,
): Promise<(RecordedPlace & { readonly number: number }) | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const found = text.split('\n').flatMap((line) => {
    try {
      const place = Place.safeParse(JSON.parse(line)).data;
      return place !== undefined && place.pos <= bytes ? [place] : [];
    } catch {
      return [];
    }
  });
  return found.sort((a, b) => b.number - a.number)[0];
}
