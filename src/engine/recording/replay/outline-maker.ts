import { z } from 'zod';
import type { Pause } from '../../../system/turns.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import { visibleText } from '../../redaction/visible-text.ts';
import { CastCommands } from '../cast/cast-commands.ts';
import { type CastEvent, type CastInfo, type CastPlace, readCastFrom } from '../cast/cast-reader.ts';
import { EventMask, type MaskedEvent } from '../cast/event-mask.ts';
import { blankKey, type Keyframe } from '../keyframes/keyframe.ts';
import { Keyframer } from '../keyframes/keyframer.ts';
import { type LogRecord, readLog } from '../log/log-reader.ts';
import type { RecordedCommand } from '../metadata.ts';
import { mostPeopleNotes, type PeopleEvent, type PeopleNote } from '../people.ts';
import { LogCommands } from './log-commands.ts';
import { LogConverter } from './log-cast.ts';

/** A line in which the redactor masked something. */
export interface MaskedLine {
  /** Seconds, as the recording plays. */
  readonly t: number;
  readonly text: string;
}

interface OutlineInit {
  readonly path: string;
  readonly kind: 'cast' | 'log';
  readonly info: CastInfo;
  readonly redactor: Redactor;
  /** Offset of the first byte of a log in the output of its terminal. */
  readonly fromOffset?: number | undefined;
}

const maskShape = /<redacted:[0-9a-f]{8}>|•••/;
const mostLines = 500;
const longestLine = 300;
const mostBusy = 2_000;
/** Output with a pause of this length is two stretches. */
const pauseMs = 1_000;

const People = z.union([
  z.object({
    typed: z.object({ by: z.string(), kind: z.enum(['agent', 'person']), secret: z.literal(true).optional() }),
  }),
  z.object({ waits: z.boolean() }),
]);

/** Reads a recording once, and goes on reading as it grows: its commands, what is masked in it, when something was printed. */
export class OutlineMaker implements Disposable {
  readonly #init: OutlineInit;
  readonly #mask: EventMask;
  readonly #castCommands = new CastCommands();
  readonly #logCommands = new LogCommands();
  readonly #converter: LogConverter;
  /** Of a raw log, which has no file of them. */
  readonly #keyframer: Keyframer | undefined;
  readonly #keys: Keyframe[] = [];
  readonly #notes: PeopleNote[] = [];
  readonly #lines: MaskedLine[] = [];
  readonly #busy: [number, number][] = [];
  #place: CastPlace;
  /** In the output of the terminal: behind the last record, and before it. */
  #offset: number;
  #offsetBefore: number;
  #lastMs = 0;
  #growing: Promise<void> = Promise.resolve();

  constructor(init: OutlineInit) {
    const { info, redactor, kind, fromOffset = 0 } = init;
    this.#init = init;
    this.#mask = new EventMask(redactor, info.size);
    this.#place = { pos: info.end, atMs: 0 };
    this.#converter = new LogConverter(info.timestamp);
    this.#offset = this.#offsetBefore = fromOffset;
    const start = (info.timestamp ?? 0) * 1000;
    if (kind === 'cast') return;
    this.#keyframer = new Keyframer({
      redactor,
      from: blankKey(info),
      wallClock: (atMs) => start + atMs,
      offset: (pos) => (pos === this.#place.pos ? this.#offsetBefore : this.#offset),
    });
  }

  get commands(): readonly RecordedCommand[] {
    return this.#init.kind === 'cast' ? this.#castCommands.commands : this.#logCommands.commands;
  }

  get running(): Pick<RecordedCommand, 'command' | 'startMs'> | undefined {
    return this.#init.kind === 'cast' ? this.#castCommands.running : this.#logCommands.running;
  }

  get keys(): readonly Keyframe[] {
    return this.#keys;
  }

  /** Of a raw log. */
  get notes(): readonly PeopleNote[] {
    return this.#notes;
  }

  /** Secrets that are masked so far. */
  get masked(): number {
    return this.#mask.count;
  }

  get maskedLines(): readonly MaskedLine[] {
    return this.#lines;
  }

  /** Stretches in which something was printed, in milliseconds. */
  get busy(): readonly (readonly [from: number, to: number])[] {
    return this.#busy;
  }

  /** How long it plays. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** Reads what was written since the last time. Callers at one time take turns. */
  async grow(isOver: boolean, pause: Pause): Promise<void> {
    const before = this.#growing;
    const work = before.catch(() => {}).then(() => this.#grow(isOver, pause));
    this.#growing = work;
    await work;
  }

  [Symbol.dispose](): void {
    this.#keyframer?.[Symbol.dispose]();
  }

  async #grow(isOver: boolean, pause: Pause): Promise<void> {
    const { path, info, kind } = this.#init;
    if (kind === 'cast') {
      for await (const event of readCastFrom(path, info, this.#place)) {
        this.#castCommands.accept(event);
        this.#event(event);
        this.#place = { pos: event.end, atMs: event.atMs };
        await pause();
      }
    } else {
      for await (const record of readLog(path, { from: this.#place.pos })) {
        this.#record(record);
        this.#place = { pos: record.end, atMs: this.#lastMs };
        await pause();
      }
    }
    this.#masked(isOver ? this.#mask.end() : this.#mask.flush());
    this.#keyframer?.rest();
  }

  #record(record: LogRecord): void {
    const atMs = this.#converter.at(record);
    this.#logCommands.accept(record, atMs);
    this.#offsetBefore = this.#offset;
    if (record.name === 'out') this.#offset += record.data.length;
    if (record.name === 'people') this.#note(record.data.toString(), atMs);
    for (const event of this.#converter.events(record)) {
      this.#event(event);
      // Where a character is cut, playing cannot begin.
      const end = this.#converter.isWhole ? event.end : -1;
      const made = this.#keyframer?.accept({ ...event, end }) ?? [];
      this.#keys.push(...made.filter(({ pos }) => pos >= 0));
    }
    this.#lastMs = Math.max(this.#lastMs, atMs);
  }

  #note(json: string, ms: number): void {
    if (this.#notes.length >= mostPeopleNotes) return;
    try {
      const event = People.safeParse(JSON.parse(json)).data as PeopleEvent | undefined;
      if (event) this.#notes.push({ ...event, ms });
    } catch {
      // A torn line tells of no person.
    }
  }

  #event(event: CastEvent): void {
    this.#lastMs = Math.max(this.#lastMs, event.atMs);
    if (event.code === 'o') this.#printed(event.atMs);
    this.#masked(this.#mask.push(event));
  }

  #printed(atMs: number): void {
    const last = this.#busy.at(-1);
    if (last && (atMs - last[1] <= pauseMs || this.#busy.length >= mostBusy)) last[1] = Math.max(last[1], atMs);
    else this.#busy.push([atMs, atMs]);
  }

  #masked(events: readonly MaskedEvent[]): void {
    for (const { atMs, code, data } of events) {
      if (code !== 'o' || !maskShape.test(data)) continue;
      for (const line of visibleText(data, 0, true).text.split(/[\r\n]+/)) {
        if (!maskShape.test(line) || this.#lines.length >= mostLines) continue;
        this.#lines.push({ t: atMs / 1000, text: line.trim().slice(0, longestLine) });
      }
    }
  }
}
