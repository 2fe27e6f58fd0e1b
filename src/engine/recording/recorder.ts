import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Clock } from '../../lib/clock.ts';
import { type Deferred, deferred } from '../../lib/deferred.ts';
import type { Ended } from '../terminal/channel.ts';
import type { Log } from '../../system/incident.ts';
import { Faults } from '../terminal/faults.ts';
import type { Redactor } from '../redaction/redactor.ts';
import { type CastHeader, headerLine } from './cast/cast-writer.ts';
import { freeBytes, notWritable, tooLittleRoom } from './directory.ts';
import { discard, keep, reserving } from './keep.ts';
import {
  mostCommands,
  type RecordedCommand,
  type RecordingMetadata,
  type RecordingStart,
  type StopReason,
} from './metadata.ts';
import type { RecordingFiles } from './names.ts';
import { type OpenPart, openPart, PartFile } from './part-file.ts';
import type { FirstFrame, RecordingSource } from './source.ts';
import { Tape } from './cast/tape.ts';
import { ownIdentity } from '../../system/process-identity.ts';

export interface RecorderSettings extends RecordingStart {
  readonly files: RecordingFiles;
  /** Seconds; 0 keeps real time, or sets no limit. */
  readonly idleTimeLimit: number;
  readonly maxDuration: number;
  readonly inactivityTimeout: number;
  readonly input: boolean;
  readonly markers: boolean;
  readonly snapshot: boolean;
  readonly term: string;
  /** Masks what is written. */
  readonly redactor: Redactor | undefined;
}

/** Dependencies, replaceable in tests. */
export interface RecorderParts {
  readonly clock: Clock;
  readonly open?: OpenPart;
  readonly freeBytes?: (directory: string) => Promise<number>;
  readonly limits?: Partial<RecorderLimits>;
  /** Takes reports of our own faults. */
  readonly log?: Log | undefined;
}

interface RecorderLimits {
  readonly castBytes: number;
  readonly freeBytes: number;
  /** Limit of bytes waiting for the disk: beyond it the recording ends. */
  readonly waitingBytes: number;
}

interface HowItEnded {
  /** The caller of `stop` reports a failure. */
  readonly failed?: boolean;
  readonly ended?: Ended;
  /** We ended the session: its code or signal says nothing about the program. */
  readonly closed?: boolean;
}

/** The answer to a stop. */
export interface RecordingResult {
  readonly recordingId: string;
  /** '' when the cast was not kept. */
  readonly path: string;
  readonly durationMs: number;
  readonly bytesWritten: number;
  readonly saved: boolean;
  readonly mode: RecordingStart['mode'];
  readonly stopReason: StopReason;
  readonly exitCode: number | null;
  readonly sessionId: string;
  /** Why it was not kept. */
  readonly reason?: string;
}

const defaults: RecorderLimits = { castBytes: 200e6, freeBytes: 200e6, waitingBytes: 16 << 20 };
const flushMs = 1_000;
const flushBytes = 64 << 10;
const snapshotLimitMs = 2_000;
/** How long to wait for the disk at the end; then the part file stays for `recover`. */
const closeLimitMs = 10_000;
const maxLabel = 4_096;

/** One recording of one terminal, from its first frame to a finished file. Disk trouble ends it; nothing here throws later. */
export class Recorder {
  readonly settings: RecorderSettings;
  readonly #finished: Deferred<RecordingResult> = deferred();
  readonly #clock: Clock;
  readonly #parts: RecorderParts;
  readonly #limits: RecorderLimits;
  readonly #file: PartFile;
  readonly #tape: Tape;
  readonly #faults: Faults;
  readonly #startMs: number;
  /** The same moment in milliseconds since the epoch. Preparing took a while after `settings.startTime`. */
  readonly #startTime: number;
  readonly #listeners: Disposable[] = [];
  readonly #commands: RecordedCommand[] = [];
  #flushTimer: Disposable | undefined;
  #silenceTimer: Disposable | undefined;
  #lastOutputMs: number;
  #commandFailed = false;
  #stopReason: StopReason | undefined;

  private constructor(settings: RecorderSettings, header: CastHeader, file: PartFile, parts: RecorderParts) {
    this.settings = settings;
    this.#parts = parts;
    this.#clock = parts.clock;
    this.#limits = { ...defaults, ...parts.limits };
    this.#file = file;
    this.#faults = new Faults(settings.sessionId, parts.log);
    this.#startMs = this.#lastOutputMs = parts.clock.monotonic();
    this.#startTime = parts.clock.now();
    this.#tape = new Tape(header, this.#startMs, settings.redactor, (line) => this.#append(line));
  }

  /** Resolves when the recording runs and its first frame is taken. */
  static async start(source: RecordingSource, settings: RecorderSettings, parts: RecorderParts): Promise<Recorder> {
    const title = settings.title === null ? undefined : settings.title;
    const header: CastHeader = {
      format: settings.format,
      size: source.size,
      startTime: settings.startTime,
      shell: source.program,
      term: settings.term,
      title: title === undefined ? undefined : (settings.redactor?.redactText(title).text ?? title),
      idleTimeLimit: settings.idleTimeLimit,
    };
    await needRoom(settings.files.directory, parts);
    const file = await create(settings, headerLine(header), parts.open ?? openPart);
    const frame = await firstFrame(source);
    const recorder = new Recorder(settings, header, file, parts);
    recorder.#begin(source, frame);
    return recorder;
  }

  /** Settles when the files are final. Never rejects. */
  get finished(): Promise<RecordingResult> {
    return this.#finished.promise;
  }

  get stopped(): boolean {
    return this.#stopReason !== undefined;
  }

  /** Why it was told to stop; undefined while it runs. */
  get stopReason(): StopReason | undefined {
    return this.#stopReason;
  }

  /** Ends the recording; of several calls the first one counts. */
  stop(reason: StopReason, how: HowItEnded = {}): Promise<RecordingResult> {
    if (this.stopped) return this.finished;
    this.#stopReason = reason;
    for (const listener of this.#listeners) listener[Symbol.dispose]();
    this.#flushTimer?.[Symbol.dispose]();
    this.#silenceTimer?.[Symbol.dispose]();
    this.#finalise(reason, how).then(this.#finished.resolve, this.#finished.reject);
    return this.finished;
  }

  #begin(source: RecordingSource, { screen, pending }: FirstFrame): void {
    const { maxDuration, inactivityTimeout, input, markers, snapshot } = this.settings;
    if (snapshot && screen !== '') this.#tape.screen(screen, this.#startMs);
    this.#tape.output(pending, this.#startMs);
    this.#listeners.push(
      source.onOutput((bytes, atMs) => {
        this.#lastOutputMs = atMs;
        this.#tape.output(bytes, atMs);
      }),
      source.onResize((size) => this.#tape.resize(size, this.#clock.monotonic())),
      source.onCommand((event) => {
        if (event.phase === 'end') this.#noteCommand(event);
        else if (markers) this.#tape.marker((event.command ?? '').slice(0, maxLabel), this.#clock.monotonic());
      }),
    );
    if (input) {
      this.#listeners.push(source.onInput((bytes, echo, atMs) => this.#tape.input(bytes, echo, atMs)));
    }
    if (maxDuration > 0) {
      this.#listeners.push(this.#clock.after(maxDuration * 1000, () => void this.stop('max_duration')));
    }
    if (inactivityTimeout > 0) this.#awaitSilence(inactivityTimeout * 1000);
    this.#listeners.push(
      whenEnded(source, (ended) => void this.stop('session_exit', { ended, closed: source.isClosed })),
    );
  }

  /** One timer regardless of output: if it fires early, it is set again for the rest. */
  #awaitSilence(limitMs: number): void {
    const left = this.#lastOutputMs + limitMs - this.#clock.monotonic();
    if (left <= 0) void this.stop('inactivity');
    else this.#silenceTimer = this.#clock.after(left, () => this.#awaitSilence(limitMs));
  }

  #noteCommand(event: {
    readonly command: string | undefined;
    readonly exitCode: number | undefined;
    readonly startedAt: number;
    readonly endedAt: number;
  }): void {
    if (event.exitCode !== undefined && event.exitCode !== 0) this.#commandFailed = true;
    if (this.#commands.length >= mostCommands) return;
    this.#commands.push({
      command: event.command === undefined ? null : this.#tape.label(event.command.slice(0, maxLabel)),
      exitCode: event.exitCode ?? null,
      startMs: Math.max(0, Math.round(event.startedAt - this.#startTime)),
      endMs: Math.max(0, Math.round(event.endedAt - this.#startTime)),
    });
  }

  #append(line: string): void {
    if (line === '' || this.#file.error !== undefined) return;
    const bytes = Buffer.byteLength(line);
    const full = this.#file.size + bytes > this.#limits.castBytes;
    if (full || this.#file.waiting + bytes > this.#limits.waitingBytes) {
      void this.stop('disk_full');
      return;
    }
    this.#file.append(line);
    if (this.stopped) return;
    if (this.#file.waiting >= flushBytes) void this.#flush();
    this.#flushTimer ??= this.#clock.after(flushMs, () => this.#tick());
  }

  #tick(): void {
    this.#flushTimer = undefined;
    this.#carefully(() => this.#tape.releaseStale(this.#clock.monotonic()));
    void this.#flush().then(() => this.#checkDisk());
    if (this.#tape.holding && !this.stopped) {
      this.#flushTimer ??= this.#clock.after(flushMs, () => this.#tick());
    }
  }

  /** A fault of ours in handling output is logged; the file stays, and the recording continues. */
  #carefully(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.#faults.note(thrown, 'a recording');
    }
  }

  async #flush(): Promise<void> {
    await this.#file.flush();
    if (this.#file.error !== undefined) void this.stop('disk_full');
  }

  async #checkDisk(): Promise<void> {
    if (this.stopped) return;
    const lack = await lacking(this.settings.files.directory, this.#parts);
    if (lack !== undefined) void this.stop('disk_full');
  }

  async #finalise(asked: StopReason, { failed = false, ended, closed = false }: HowItEnded): Promise<RecordingResult> {
    const nowMs = this.#clock.monotonic();
    const exitCode = ended?.by === 'exit' ? ended.code : null;
    this.#carefully(() => {
      this.#tape.end(nowMs);
      if (ended !== undefined && ended.by !== 'lost') this.#tape.exit(exitStatus(ended), nowMs);
    });
    const bytesWritten = await this.#closeFile();
    const stopReason = this.#file.error === undefined && bytesWritten !== undefined ? asked : 'disk_full';
    const hasFailed = failed || this.#commandFailed || (ended !== undefined && exitCode !== 0 && !closed);
    const { files, recordingId, sessionId, mode } = this.settings;
    const durationMs = Math.round(nowMs - this.#startMs);
    const more = { stopReason, exitCode, sessionId };
    if (bytesWritten === undefined) {
      const reason = `The disk does not answer; what it has is in ${files.part}.`;
      return { recordingId, path: '', durationMs, bytesWritten: 0, saved: false, mode, ...more, reason };
    }
    const result = { recordingId, path: files.cast, durationMs, bytesWritten, saved: true, mode };
    if (mode === 'on-failure' && !hasFailed) {
      await discard(files);
      return { ...result, path: '', saved: false, ...more, reason: 'Nothing failed, and the mode is on-failure.' };
    }
    const metadata = this.#metadata({ ...more, durationMs, bytesWritten, failed: hasFailed });
    const reason = await keep(files, metadata);
    return reason === undefined ? { ...result, ...more } : { ...result, path: '', saved: false, ...more, reason };
  }

  /** The size of the file; undefined when the disk does not answer. */
  async #closeFile(): Promise<number | undefined> {
    const limit = deferred<undefined>();
    using _timer = this.#clock.after(closeLimitMs, () => limit.resolve(undefined));
    return await Promise.race([this.#file.close(), limit.promise]);
  }

  #metadata(
    facts: Pick<RecordingMetadata, 'stopReason' | 'exitCode' | 'durationMs' | 'bytesWritten' | 'failed'>,
  ): RecordingMetadata {
    const { recordingId, sessionId, mode, format, cols, rows, title } = this.settings;
    const clamp = (ms: number): number => Math.min(ms, facts.durationMs);
    return {
      ...facts,
      startTime: this.#startTime,
      endTime: this.#startTime + facts.durationMs,
      recordingId,
      sessionId,
      mode,
      format,
      castDurationMs: this.#tape.castDurationMs,
      cols,
      rows,
      title: title === null ? null : this.#tape.label(title),
      // Block times use the wall clock, the duration the monotonic one.
      commands: this.#commands.map((one) => ({ ...one, startMs: clamp(one.startMs), endMs: clamp(one.endMs) })),
      redactions: this.#tape.redactions,
    };
  }
}

/** Free and required bytes if there are too few; a disk that does not report its space has enough. */
async function lacking(directory: string, parts: RecorderParts): Promise<{ free: number; wanted: number } | undefined> {
  const wanted = parts.limits?.freeBytes ?? defaults.freeBytes;
  const free = await (parts.freeBytes ?? freeBytes)(directory).catch(() => wanted);
  return free < wanted ? { free, wanted } : undefined;
}

async function needRoom(directory: string, parts: RecorderParts): Promise<void> {
  const lack = await lacking(directory, parts);
  if (lack !== undefined) throw tooLittleRoom(directory, lack.free, lack.wanted);
}

async function create(settings: RecorderSettings, header: string, openFile: OpenPart): Promise<PartFile> {
  const { files, recordingId, sessionId, mode, format, startTime, cols, rows } = settings;
  const title = settings.title === null ? null : (settings.redactor?.redactText(settings.title).text ?? settings.title);
  const start: RecordingStart = { recordingId, sessionId, mode, format, startTime, cols, rows, title };
  try {
    const known = reserving(JSON.stringify({ writer: ownIdentity(), ...start }));
    await writeFile(files.writer, known, { mode: 0o600, flag: 'wx' });
    const file = new PartFile(await openFile(files.part));
    file.append(header);
    await file.flush();
    if (file.error !== undefined) {
      await file.close();
      throw file.error;
    }
    return file;
  } catch (cause) {
    await discard(files);
    throw notWritable(files.directory, cause);
  }
}

/** Recording starts without the first screen if it does not come in time. */
async function firstFrame(source: RecordingSource): Promise<FirstFrame> {
  try {
    return await source.snapshot(AbortSignal.timeout(snapshotLimitMs));
  } catch {
    return { screen: '', pending: new Uint8Array(0) };
  }
}

function exitStatus(ended: Exclude<Ended, { by: 'lost' }>): number {
  if (ended.by === 'exit') return ended.code;
  const number = (constants.signals as Readonly<Record<string, number>>)[`SIG${ended.signal}`];
  return 128 + (number ?? 0);
}

/** A promise keeps its callbacks; this releases the listener at least. */
function whenEnded(source: RecordingSource, listener: (ended: Ended) => void): Disposable {
  let current: ((ended: Ended) => void) | undefined = listener;
  source.ended.then(
    (ended) => current?.(ended),
    () => {},
  );
  return { [Symbol.dispose]: () => void (current = undefined) };
}
