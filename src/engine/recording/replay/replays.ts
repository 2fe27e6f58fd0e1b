import { FairleadError } from '../../../contract/errors.ts';
import type { Emitter } from '../../../lib/emitter.ts';
import { abortable } from '../../../system/abortable.ts';
import { pauses } from '../../../system/turns.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import type { Size } from '../../terminal/channel.ts';
import {
  type CastEvent,
  type CastInfo,
  type CastPlace,
  type CastReading,
  readCastFrom,
  readHeader,
} from '../cast/cast-reader.ts';
import type { MaskedEvent } from '../cast/event-mask.ts';
import { applyEvent, blankScreen } from '../keyframes/keyframer.ts';
import { blankKey, type Keyframe } from '../keyframes/keyframe.ts';
import type { RecordingMetadata } from '../metadata.ts';
import { clipOf } from './clip.ts';
import { findReplay, listReplays, type RawLogs, removeReplay, type ReplayEntry } from './entries.ts';
import { findText, type TextHit } from './find-text.ts';
import { followRecording, type FollowedPart } from './follow-recording.ts';
import { KeyLibrary } from './key-library.ts';
import { logEvents, logInfo } from './log-cast.ts';
import { maskedEvents } from './masked-range.ts';
import { outlineOf, type RecordingOutline } from './outline.ts';
import type { MaskedLine, OutlineMaker } from './outline-maker.ts';
import { OutlineLibrary } from './outline-library.ts';

interface ReplaysOptions {
  readonly dir: string;
  readonly redactor: () => Redactor;
  readonly logs?: (() => RawLogs | undefined) | undefined;
  /** What the recorder of a running recording knows. */
  readonly told?: ((id: string) => Pick<RecordingMetadata, 'commands' | 'people'> | undefined) | undefined;
  /** Writes what a running recording holds to its file. */
  readonly flush?: ((id: string) => Promise<void>) | undefined;
  /** The id of a terminal, when a cast of it has begun or ended. */
  readonly changed?: Pick<Emitter<string>, 'on'> | undefined;
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
  readonly path: string;
  readonly info: CastInfo;
  readonly events: (from: CastPlace) => AsyncGenerator<CastEvent, void, undefined>;
  readonly redactor: Redactor;
  readonly growing: boolean;
}

const usualBytes = 1 << 20;
const mostBytes = 32 << 20;

/** Recordings as pages play them: masked, from any moment on. Keyframes make that quick; nothing depends on them. */
export class Replays implements Disposable {
  readonly #options: ReplaysOptions;
  readonly #keyLibrary: KeyLibrary;
  readonly #outlines: OutlineLibrary;

  constructor(options: ReplaysOptions) {
    this.#options = options;
    this.#keyLibrary = new KeyLibrary(options);
    this.#outlines = new OutlineLibrary();
  }

  /** Those a caller may see, newest first. */
  async list(maySee: (entry: ReplayEntry) => boolean = () => true): Promise<ReplayEntry[]> {
    const { dir, logs, told } = this.#options;
    return (await listReplays(dir, logs?.(), told)).filter(maySee);
  }

  /** By its id. Does not read the others. */
  async find(id: string): Promise<ReplayEntry | undefined> {
    const { dir, logs, told, flush } = this.#options;
    await flush?.(id);
    return await findReplay(id, dir, logs?.(), told);
  }

  /** Removes a recording with its files; one that is being made is refused. */
  async remove(entry: ReplayEntry): Promise<void> {
    const { dir, logs } = this.#options;
    await removeReplay(entry, dir, logs?.());
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
    checkRange(from, to);
    const play = await this.#open(entry);
    const events: MaskedEvent[] = [];
    let bytes = 0;
    for await (const event of this.#stretch(entry, play, { from, to }, signal)) {
      const last = events.at(-1)?.atMs;
      if (bytes >= maxBytes && last !== undefined && event.atMs > last) {
        return { info: play.info, events, to: last / 1000, more: true };
      }
      bytes += Buffer.byteLength(event.data);
      if (bytes > mostBytes) throw tooMuch(event.atMs);
      events.push(event);
    }
    const end = (events.at(-1)?.atMs ?? ms(from ?? 0)) / 1000;
    return { info: play.info, events, to: to ?? end, more: false };
  }

  /** The keyframes between two moments, and the one before them. */
  async keys(entry: ReplayEntry, from: number, to: number, signal: AbortSignal): Promise<readonly Keyframe[]> {
    const { info } = await this.#open(entry);
    const keys = await this.#keys(entry, info, signal);
    const first = keys.findLastIndex((key) => key.t <= from);
    return keys.slice(Math.max(0, first)).filter((key) => key.t <= to);
  }

  /** Its commands, who typed, and when it waited for a person. */
  async outline(entry: ReplayEntry, signal: AbortSignal): Promise<RecordingOutline & { readonly size: Size }> {
    const { info, redactor } = await this.#open(entry);
    const maker = await this.#read(entry, info, signal);
    const keys = await this.#keys(entry, info, signal);
    const told = entry.state === 'recording' ? this.#options.told?.(entry.id) : undefined;
    return { ...outlineOf({ entry, maker, keys, redactor, told }), size: info.size };
  }

  /** What the redactor masks in a stretch. */
  async masked(
    entry: ReplayEntry,
    { from = 0, to = Number.POSITIVE_INFINITY }: RangeOptions,
    signal: AbortSignal,
  ): Promise<readonly MaskedLine[]> {
    checkRange(from, to);
    const { info } = await this.#open(entry);
    const { maskedLines } = await this.#read(entry, info, signal);
    return maskedLines.filter(({ t }) => t >= from && t <= to);
  }

  /** Where a text stands in its commands and its output. */
  async findText(
    entry: ReplayEntry,
    { text, most }: { readonly text: string; readonly most: number },
    signal: AbortSignal,
  ): Promise<{ readonly hits: readonly TextHit[]; readonly more: boolean }> {
    const play = await this.#open(entry);
    const { blocks } = await this.outline(entry, signal);
    return await findText(this.#stretch(entry, play, {}, signal), { text, blocks, most }, pauses(signal));
  }

  /** A stretch as a cast of its own. */
  async clip(entry: ReplayEntry, { from, to }: RangeOptions, signal: AbortSignal): Promise<CastReading> {
    checkRange(from, to);
    const play = await this.#open(entry);
    const { blocks, startedAt } = await this.outline(entry, signal);
    const whole = { size: play.info.size, screen: '' };
    const { size, screen } = from === undefined || from === 0 ? whole : await this.seek(entry, from, signal);
    const start = from === 0 ? undefined : from;
    const events = this.#stretch(entry, play, { from: start, to }, signal);
    const { title, kind } = entry;
    const isLog = kind === 'log';
    const masked = title === undefined ? undefined : play.redactor.redactText(title).text;
    return clipOf({ title: masked, startedAt, size, screen, fromMs: ms(from ?? 0), events, blocks, isLog });
  }

  /** A recording while it is made: its end, then what comes. */
  async *follow(entry: ReplayEntry, signal: AbortSignal): AsyncGenerator<FollowedPart, void, undefined> {
    const { path, info, redactor } = await this.#open(entry);
    const key = await this.#keyAt(entry, info, Number.MAX_SAFE_INTEGER, signal);
    const look = async () => {
      const now = (await this.find(entry.id)) ?? (await this.find(entry.id));
      if (now === undefined) throw new FairleadError('not_found', 'This recording was removed.');
      return { isOver: now.state !== 'recording', events: (await this.#open(now)).events };
    };
    const { changed, logs } = this.#options;
    const ends = [changed, logs?.()?.changed].filter((one) => one !== undefined);
    yield* followRecording({ path, ends, redactor, key, look }, signal);
  }

  [Symbol.dispose](): void {
    this.#outlines[Symbol.dispose]();
  }

  async *#stretch(
    entry: ReplayEntry,
    play: Playable,
    { from, to }: RangeOptions,
    signal: AbortSignal,
  ): AsyncGenerator<MaskedEvent, void, undefined> {
    const key = from === undefined ? blankKey(play.info) : await this.#keyAt(entry, play.info, from, signal);
    const [fromMs, toMs] = [from === undefined ? -1 : ms(from), to === undefined ? Number.POSITIVE_INFINITY : ms(to)];
    for await (const event of maskedEvents(play, key, toMs)) {
      signal.throwIfAborted();
      if (event.atMs > fromMs) yield event;
    }
  }

  async #open({ path, kind, state }: ReplayEntry): Promise<Playable> {
    if (path === undefined) throw notKept();
    const shared = { path, redactor: this.#options.redactor(), growing: state === 'recording' };
    const info = await (kind === 'log' ? logInfo(path) : readHeader(path));
    if (kind === 'log') return { ...shared, info, events: (from) => logEvents(path, info, from) };
    return { ...shared, info, events: (from) => readCastFrom(path, info, from) };
  }

  async #keyAt(entry: ReplayEntry, info: CastInfo, t: number, signal: AbortSignal): Promise<Keyframe> {
    const keys = await this.#keys(entry, info, signal);
    return keys.findLast((one) => ms(one.t) <= ms(t)) ?? blankKey(info);
  }

  async #keys(entry: ReplayEntry, info: CastInfo, signal: AbortSignal): Promise<readonly Keyframe[]> {
    const { cast } = entry;
    // A raw log has no file of them: reading it makes them.
    if (cast === undefined) return (await this.#read(entry, info, signal)).keys;
    return await abortable(this.#keyLibrary.keys(cast, info), signal);
  }

  async #read(entry: ReplayEntry, info: CastInfo, signal: AbortSignal): Promise<OutlineMaker> {
    const { redactor, closing } = this.#options;
    return await abortable(this.#outlines.read(entry, { info, redactor: redactor(), closing }), signal);
  }
}

const ms = (t: number): number => Math.round(t * 1e6) / 1000;

function checkRange(from: number | undefined, to: number | undefined): void {
  if (from === undefined || to === undefined || to >= from) return;
  throw new FairleadError('invalid_input', `The range ends (${to} s) before it begins (${from} s).`);
}

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
