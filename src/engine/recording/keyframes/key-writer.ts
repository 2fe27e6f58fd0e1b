import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Clock } from '../../../lib/clock.ts';
import { deferred } from '../../../lib/deferred.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import { type CastInfo, readCastFrom } from '../cast/cast-reader.ts';
import { blankKey, type Keyframe, keyLine, readKeys } from './keyframe.ts';
import { Keyframer } from './keyframer.ts';
import { stampKeys } from './keys-file.ts';

interface KeyWriterOptions {
  /** The part file that is read, and its keys file. */
  readonly path: string;
  readonly keys: string;
  readonly info: CastInfo;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly wallClock: (castMs: number) => number;
  readonly offset: (pos: number) => number | undefined;
  /** The cast goes on at this byte: keyframes before it stay. */
  readonly resumeAt?: number | undefined;
}

/** How long grown output waits for its keyframes. */
const batchMs = 5_000;
/** Work and rest in turn: a tenth of the event loop at most. */
const workMs = 5;
const restMs = 45;

/**
 * Makes keyframes while a cast is being recorded. It reads what the recorder has written, some seconds later and in small turns, so
 * a flood costs little; what it has not reached at the end is made from the cast when someone seeks.
 */
export class KeyWriter {
  readonly #options: KeyWriterOptions;
  #maker: Keyframer | undefined;
  #file: FileHandle | undefined;
  #written = 0;
  #skip = 0;
  /** Whole lines of the cast are on the disk up to here. */
  #grownTo = 0;
  #timer: Disposable | undefined;
  #work: Promise<void> | undefined;
  #closing = false;
  #failed = false;
  #wake = (): void => {};

  constructor(options: KeyWriterOptions) {
    this.#options = options;
  }

  /** The cast has grown to this size. */
  grown(bytes: number): void {
    this.#grownTo = bytes;
    if (this.#closing || this.#failed || this.#work !== undefined) return;
    this.#timer ??= this.#options.clock.after(batchMs, () => {
      this.#timer = undefined;
      this.#begin();
    });
  }

  /** Finishes what it can within this time, and lets go of its file. Never rejects. */
  async close(castBytes: number, limitMs: number): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#grownTo = castBytes;
    this.#closing = true;
    this.#wake();
    const late = deferred<void>();
    using _limit = this.#options.clock.after(limitMs, () => {
      this.#failed = true;
      late.resolve();
    });
    await Promise.race([this.#finish(), late.promise]);
    const complete = !this.#failed && (this.#maker?.place.pos ?? 0) >= castBytes;
    await this.#work?.catch(() => {});
    await this.#file?.close().catch(() => {});
    if (this.#file !== undefined) await stampKeys(this.#options, complete).catch(() => {});
    this.#maker?.[Symbol.dispose]();
  }

  async #finish(): Promise<void> {
    await this.#work;
    this.#begin();
    await this.#work;
  }

  #begin(): void {
    if (this.#failed) return;
    // Trouble with this file is no trouble of the recording: keyframes can be made from the cast at any time.
    this.#work = this.#run()
      .catch(() => {
        this.#failed = true;
      })
      .finally(() => {
        this.#work = undefined;
        if (!this.#closing && this.#grownTo > (this.#maker?.place.pos ?? 0)) this.grown(this.#grownTo);
      });
  }

  async #run(): Promise<void> {
    const maker = (this.#maker ??= await this.#open());
    const { path, info } = this.#options;
    let until = performance.now() + workMs;
    let lines = '';
    for await (const event of readCastFrom(path, info, maker.place, this.#grownTo)) {
      for (const key of maker.accept(event, this.#skip)) lines += keyLine(key);
      this.#skip = 0;
      if (performance.now() < until) continue;
      lines = await this.#write(lines);
      await this.#rest();
      if (this.#failed) return;
      until = performance.now() + workMs;
    }
    await this.#write(lines);
    maker.rest();
  }

  async #rest(): Promise<void> {
    const { promise, resolve } = deferred<void>();
    this.#wake = resolve;
    using _timer = this.#closing ? undefined : this.#options.clock.after(restMs, resolve);
    if (this.#closing) setImmediate(resolve);
    await promise;
  }

  async #write(lines: string): Promise<''> {
    const bytes = Buffer.from(lines);
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await (this.#file as FileHandle).write(bytes, done, bytes.length - done, this.#written);
      done += bytesWritten;
      this.#written += bytesWritten;
    }
    return '';
  }

  async #open(): Promise<Keyframer> {
    const { keys: path, info, redactor, wallClock, offset, resumeAt } = this.#options;
    const read = resumeAt === undefined ? undefined : await readKeys(path);
    const kept = (read?.keys ?? []).filter(({ pos, skip = 0 }) => pos + (skip > 0 ? 1 : 0) <= (resumeAt ?? 0));
    const flags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_CREAT | (read ? 0 : constants.O_EXCL);
    this.#file = await open(path, flags, 0o600);
    const bytes = read?.ends[kept.length - 1] ?? 0;
    if (read) await this.#file.truncate(bytes);
    this.#written = bytes;
    const from: Keyframe = kept.at(-1) ?? blankKey(info);
    this.#skip = from.skip ?? 0;
    const blocks = kept.findLast(({ block }) => block !== undefined)?.block ?? 0;
    return new Keyframer({ redactor, from, wallClock, offset, before: { bytes, blocks } });
  }
}
