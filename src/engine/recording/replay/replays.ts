import { FairleadError } from '../../../contract/errors.ts';
import { abortable } from '../../../system/abortable.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import type { Size } from '../../terminal/channel.ts';
import { type CastInfo, readHeader } from '../cast/cast-reader.ts';
import type { MaskedEvent } from '../cast/event-mask.ts';
import { applyEvent, blankScreen } from '../keyframes/keyframer.ts';
import { blankKey, type Keyframe, readKeys } from '../keyframes/keyframe.ts';
import { currentKeys, rebuildKeys } from '../keyframes/keys-file.ts';
import { type LibraryEntry, listRecordings } from '../library.ts';
import { maskedEvents } from './masked-range.ts';

interface ReplaysOptions {
  readonly dir: string;
  readonly redactor: () => Redactor;
  /** Aborted when the engine ends. */
  readonly closing: AbortSignal;
}

interface RangeOptions {
  /** Cast seconds: events after this one; left out, from the start. */
  readonly from?: number | undefined;
  /** Up to and with this one; left out, to the end. */
  readonly to?: number | undefined;
  /** Ends after so many bytes of output, between two moments. */
  readonly maxBytes?: number | undefined;
}

interface CastRange {
  readonly entry: LibraryEntry;
  readonly info: CastInfo;
  readonly events: readonly MaskedEvent[];
  /** Cast seconds up to which these are all: the next range begins there. */
  readonly to: number;
  readonly more: boolean;
}

interface SoughtScreen {
  readonly entry: LibraryEntry;
  readonly t: number;
  readonly size: Size;
  /** Escape text that draws it on a blank terminal of this size. */
  readonly screen: string;
  readonly text: string;
}

const usualBytes = 1 << 20;
const mostBytes = 32 << 20;

/** Recordings as pages play them: masked, from any moment on. Keyframes make that quick; nothing depends on them. */
export class Replays {
  readonly #options: ReplaysOptions;
  /** Keyframes that are being made, by the path of their cast: two readers share the work. */
  readonly #making = new Map<string, Promise<readonly Keyframe[]>>();

  constructor(options: ReplaysOptions) {
    this.#options = options;
  }

  async list(): Promise<LibraryEntry[]> {
    return await listRecordings(this.#options.dir);
  }

  /** The screen at a moment. */
  async seek(id: string, t: number, signal: AbortSignal): Promise<SoughtScreen> {
    const { entry, info, key } = await this.#open(id, t, signal);
    using screen = blankScreen(key);
    for await (const event of maskedEvents(this.#masked(entry, info), key, ms(t))) applyEvent(screen, event);
    signal.throwIfAborted();
    const text = screen.text({ scope: 'viewport', wrap: 'keep' });
    return { entry, t, size: screen.size, screen: screen.snapshot(), text };
  }

  /** The events of a stretch. */
  async range(id: string, { from, to, maxBytes = usualBytes }: RangeOptions, signal: AbortSignal): Promise<CastRange> {
    if (from !== undefined && to !== undefined && to < from) {
      throw new FairleadError('invalid_input', `The range ends (${to} s) before it begins (${from} s).`);
    }
    const { entry, info, key } = await this.#open(id, from, signal);
    const [fromMs, toMs] = [from === undefined ? -1 : ms(from), to === undefined ? Number.POSITIVE_INFINITY : ms(to)];
    const events: MaskedEvent[] = [];
    let bytes = 0;
    for await (const event of maskedEvents(this.#masked(entry, info), key, toMs)) {
      if (event.atMs <= fromMs) continue;
      signal.throwIfAborted();
      const last = events.at(-1)?.atMs;
      if (bytes >= maxBytes && last !== undefined && event.atMs > last) {
        return { entry, info, events, to: last / 1000, more: true };
      }
      bytes += Buffer.byteLength(event.data);
      if (bytes > mostBytes) throw tooMuch(event.atMs);
      events.push(event);
    }
    const end = (events.at(-1)?.atMs ?? Math.max(0, fromMs)) / 1000;
    return { entry, info, events, to: to ?? end, more: false };
  }

  /** The keyframes between two moments, and the one before them. */
  async keys(id: string, from: number, to: number, signal: AbortSignal): Promise<readonly Keyframe[]> {
    const entry = await this.#find(id);
    const keys = await this.#keys(entry, await readHeader(entry.path), signal);
    const first = keys.findLastIndex((key) => key.t <= from);
    return keys.slice(Math.max(0, first)).filter((key) => key.t <= to);
  }

  async #open(id: string, t: number | undefined, signal: AbortSignal) {
    const entry = await this.#find(id);
    const info = await readHeader(entry.path);
    const keys = t === undefined ? [] : await this.#keys(entry, info, signal);
    const key = keys.findLast((one) => ms(one.t) <= ms(t ?? 0)) ?? blankKey(info);
    return { entry, info, key };
  }

  /** By its id alone: a page must not name files. */
  async #find(id: string): Promise<LibraryEntry> {
    const found = (await this.list()).find((entry) => entry.id === id);
    if (found) return found;
    throw new FairleadError('not_found', `There is no recording ${JSON.stringify(id)}.`, {
      hint: 'List the recordings for their ids.',
    });
  }

  async #keys(entry: LibraryEntry, info: CastInfo, signal: AbortSignal): Promise<readonly Keyframe[]> {
    const { path, files, startTime } = entry;
    // What is being recorded gets its keyframes from the recorder; those it has are good, and the rest is played.
    if (entry.state !== 'finished') return (await readKeys(files.partKeys))?.keys ?? [];
    const cast = { path, keys: files.keys, info, startTime };
    const known = await currentKeys(cast);
    if (known !== undefined) return known;
    let making = this.#making.get(path);
    if (making === undefined) {
      making = rebuildKeys(cast, this.#options.redactor(), this.#options.closing);
      this.#making.set(path, making);
      making.catch(() => {}).finally(() => this.#making.delete(path));
    }
    return await abortable(making, signal);
  }

  #masked(entry: LibraryEntry, info: CastInfo) {
    return { path: entry.path, info, redactor: this.#options.redactor(), growing: entry.state === 'recording' };
  }
}

const ms = (t: number): number => Math.round(t * 1e6) / 1000;

function tooMuch(atMs: number): FairleadError {
  return new FairleadError(
    'too_large',
    `More than ${mostBytes >> 20} MB were printed at ${atMs / 1000} s of this cast.`,
    {
      hint: 'Export it instead: fairlead recordings export.',
    },
  );
}
