import { FairleadError } from '../../../contract/errors.ts';
import { abortable } from '../../../system/abortable.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import type { Size } from '../../terminal/channel.ts';
import { type CastEvent, type CastInfo, type CastPlace, readCastFrom, readHeader } from '../cast/cast-reader.ts';
import type { MaskedEvent } from '../cast/event-mask.ts';
import { applyEvent, blankScreen } from '../keyframes/keyframer.ts';
import { blankKey, type Keyframe, readKeys } from '../keyframes/keyframe.ts';
import { currentKeys, rebuildKeys } from '../keyframes/keys-file.ts';
import type { LibraryEntry } from '../library.ts';
import { listReplays, type RawLogs, type ReplayEntry } from './entries.ts';
import { logEvents, logInfo } from './log-cast.ts';
import { maskedEvents } from './masked-range.ts';

interface ReplaysOptions {
  readonly dir: string;
  readonly redactor: () => Redactor;
  readonly logs?: (() => RawLogs | undefined) | undefined;
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
  readonly info: CastInfo;
  readonly events: readonly MaskedEvent[];
  /** Cast seconds up to which these are all: the next range begins there. */
  readonly to: number;
  readonly more: boolean;
}

interface SoughtScreen {
  readonly size: Size;
  /** Escape text that draws it on a blank terminal of this size. */
  readonly screen: string;
  readonly text: string;
}

/** What is played, whichever kind of file it is. */
interface Playable {
  readonly info: CastInfo;
  readonly events: (from: CastPlace) => AsyncGenerator<CastEvent, void, undefined>;
  readonly redactor: Redactor;
  readonly growing: boolean;
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

  /** Those a caller may see, newest first. */
  async list(maySee: (entry: ReplayEntry) => boolean = () => true): Promise<ReplayEntry[]> {
    const { dir, logs } = this.#options;
    return (await listReplays(dir, logs?.())).filter(maySee);
  }

  /** The screen at a moment. */
  async seek(entry: ReplayEntry, t: number, signal: AbortSignal): Promise<SoughtScreen> {
    const play = await this.#open(entry);
    const key = await this.#keyAt(entry, play.info, t, signal);
    using screen = blankScreen(key);
    for await (const event of maskedEvents(play, key, ms(t))) {
      applyEvent(screen, event);
      signal.throwIfAborted();
    }
    const text = screen.text({ scope: 'viewport', wrap: 'keep' });
    return { size: screen.size, screen: screen.snapshot(), text };
  }

  /** The events of a stretch. */
  async range(entry: ReplayEntry, options: RangeOptions, signal: AbortSignal): Promise<CastRange> {
    const { from, to, maxBytes = usualBytes } = options;
    if (from !== undefined && to !== undefined && to < from) {
      throw new FairleadError('invalid_input', `The range ends (${to} s) before it begins (${from} s).`);
    }
    const play = await this.#open(entry);
    const key = from === undefined ? blankKey(play.info) : await this.#keyAt(entry, play.info, from, signal);
    const [fromMs, toMs] = [from === undefined ? -1 : ms(from), to === undefined ? Number.POSITIVE_INFINITY : ms(to)];
    const events: MaskedEvent[] = [];
    let bytes = 0;
    for await (const event of maskedEvents(play, key, toMs)) {
      signal.throwIfAborted();
      if (event.atMs <= fromMs) continue;
      const last = events.at(-1)?.atMs;
      if (bytes >= maxBytes && last !== undefined && event.atMs > last) {
        return { info: play.info, events, to: last / 1000, more: true };
      }
      bytes += Buffer.byteLength(event.data);
      if (bytes > mostBytes) throw tooMuch(event.atMs);
      events.push(event);
    }
    const end = (events.at(-1)?.atMs ?? Math.max(0, fromMs)) / 1000;
    return { info: play.info, events, to: to ?? end, more: false };
  }

  /** The keyframes between two moments, and the one before them. A raw log has none. */
  async keys(entry: ReplayEntry, from: number, to: number, signal: AbortSignal): Promise<readonly Keyframe[]> {
    const { info } = await this.#open(entry);
    const keys = await this.#keys(entry, info, signal);
    const first = keys.findLastIndex((key) => key.t <= from);
    return keys.slice(Math.max(0, first)).filter((key) => key.t <= to);
  }

  async #open({ path, kind, state }: ReplayEntry): Promise<Playable> {
    if (path === undefined) throw notKept();
    const shared = { redactor: this.#options.redactor(), growing: state === 'recording' };
    if (kind === 'log') return { ...shared, info: await logInfo(path), events: () => logEvents(path) };
    const info = await readHeader(path);
    return { ...shared, info, events: (from) => readCastFrom(path, info, from) };
  }

  async #keyAt(entry: ReplayEntry, info: CastInfo, t: number, signal: AbortSignal): Promise<Keyframe> {
    const keys = await this.#keys(entry, info, signal);
    return keys.findLast((one) => ms(one.t) <= ms(t)) ?? blankKey(info);
  }

  async #keys({ cast }: ReplayEntry, info: CastInfo, signal: AbortSignal): Promise<readonly Keyframe[]> {
    if (cast === undefined) return [];
    // What is being recorded gets its keyframes from the recorder; those it has are good, and the rest is played.
    if (cast.state !== 'finished') return (await readKeys(cast.files.partKeys))?.keys ?? [];
    return (await currentKeys(keyedCast(cast, info))) ?? (await abortable(this.#make(cast, info), signal));
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

const ms = (t: number): number => Math.round(t * 1e6) / 1000;

const keyedCast = ({ path, files, startTime }: LibraryEntry, info: CastInfo) => ({
  path,
  keys: files.keys,
  info,
  startTime,
});

function notKept(): FairleadError {
  return new FairleadError('not_found', 'The raw log of this recording was not kept.', {
    hint: 'Its markdown is there: session.recording_read.',
  });
}

function tooMuch(atMs: number): FairleadError {
  return new FairleadError('too_large', `More than ${mostBytes >> 20} MB were printed at ${atMs / 1000} s.`, {
    hint: 'Export it instead: fairlead recordings export.',
  });
}
