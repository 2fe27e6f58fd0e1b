import type { Clock } from '../../lib/clock.ts';
import { type Deferred, deferred } from '../../lib/deferred.ts';
import type { Ended, Size } from '../terminal/channel.ts';
import { Faults } from '../terminal/faults.ts';
import { CastProgress } from './cast/cast-progress.ts';
import type { CastHeader } from './cast/cast-writer.ts';
import { Tape } from './cast/tape.ts';
import { exitStatus, whenEnded } from './end-of-source.ts';
import { discard, keep } from './keep.ts';
import { KeyWriter } from './keyframes/key-writer.ts';
import {
  factsOfTerminal,
  mostCommands,
  type RecordedCommand,
  type RecordingMetadata,
  type StopReason,
} from './metadata.ts';
import { mostPeopleNotes, type PeopleNote } from './people.ts';
import { type BegunPart, beginPart, firstFrame, lacking, needRoom } from './part-start.ts';
import { PlaceMarks } from './place-marks.ts';
import { measureCast } from './recover.ts';
import type { FirstFrame, RecordingSource } from './source.ts';
import {
  defaultLimits,
  type RecorderLimits,
  type RecorderParts,
  type RecorderSettings,
  type RecordingResult,
} from './recorder-settings.ts';

interface HowItEnded {
  /** The caller of `stop` reports a failure. */
  readonly failed?: boolean;
  readonly ended?: Ended;
  /** We ended the session: its code or signal says nothing about the program. */
  readonly closed?: boolean;
}

const flushMs = 1_000;
const flushBytes = 64 << 10;
/** How long to wait for the disk at the end; then the part file stays for `recover`. */
const closeLimitMs = 10_000;
/** And for keyframes; what is missing is made when someone seeks. */
const keysLimitMs = 300;
const maxLabel = 4_096;
/** A redactor looks back this far at most. */
const recallBytes = 8_192;

/** One recording of one terminal, from its first frame to a finished file. Disk trouble ends it; nothing here throws later. */
export class Recorder {
  readonly settings: RecorderSettings;
  readonly #finished: Deferred<RecordingResult> = deferred();
  readonly #clock: Clock;
  readonly #parts: RecorderParts;
  readonly #limits: RecorderLimits;
  readonly #part: BegunPart;
  readonly #tape: Tape;
  readonly #progress: CastProgress;
  readonly #marks: PlaceMarks;
  readonly #keys: KeyWriter | undefined;
  readonly #faults: Faults;
  readonly #startMs: number;
  /** The same moment in milliseconds since the epoch. Preparing took a while after `settings.startTime`. */
  readonly #startTime: number;
  readonly #listeners: Disposable[] = [];
  readonly #commands: RecordedCommand[] = [];
  readonly #people: PeopleNote[] = [];
  #size: Size;
  #flushTimer: Disposable | undefined;
  #silenceTimer: Disposable | undefined;
  #lastOutputMs: number;
  #commandFailed = false;
  #stopReason: StopReason | undefined;

  private constructor(settings: RecorderSettings, part: BegunPart, parts: RecorderParts) {
    const { place, info, file } = part;
    const { clock, redactor } = parts;
    this.settings = settings;
    this.#parts = parts;
    this.#clock = clock;
    this.#limits = { ...defaultLimits, ...parts.limits };
    this.#part = part;
    this.#faults = new Faults(settings.sessionId, parts.log);
    this.#lastOutputMs = clock.monotonic();
    this.#startTime = place?.began ?? clock.now();
    this.#startMs = clock.monotonic() - Math.max(0, clock.now() - this.#startTime);
    this.#size = place?.size ?? info.size;
    this.#tape = new Tape(
      { format: settings.format, idleTimeLimit: settings.idleTimeLimit, size: this.#size },
      {
        startMs: this.#startMs,
        redactor: settings.redact ? redactor : undefined,
        emit: (line) => this.#append(line),
        resumed: place,
      },
    );
    const progress = new CastProgress(this.#startTime, place?.time);
    this.#progress = progress;
    const keyframes = parts.keyframes ?? true;
    this.#keys = !keyframes
      ? undefined
      : new KeyWriter({
          path: settings.files.part,
          keys: settings.files.partKeys,
          info,
          redactor,
          clock,
          wallClock: (castMs) => progress.wallClock(castMs),
          offset: (pos) => progress.offset(pos),
          resumeAt: place?.pos,
        });
    const size = (): Size => this.#size;
    const marks = new PlaceMarks({ part, tape: this.#tape, progress, clock, began: this.#startTime, size });
    this.#marks = marks;
    file.onWritten = (bytes) => {
      this.#keys?.grown(bytes);
      marks.written(bytes);
    };
  }

  /** Resolves when the recording runs and its first frame is taken. */
  static async start(source: RecordingSource, settings: RecorderSettings, parts: RecorderParts): Promise<Recorder> {
    const { title } = settings;
    const header: CastHeader = {
      format: settings.format,
      size: source.size,
      startTime: settings.startTime,
      shell: source.program,
      term: settings.term,
      title: title === null ? undefined : settings.redact ? parts.redactor.redactText(title).text : title,
      idleTimeLimit: settings.idleTimeLimit,
    };
    await needRoom(settings.files.directory, parts);
    const part = await beginPart(settings, header, parts);
    const frame = await firstFrame(source);
    const recorder = new Recorder(settings, part, parts);
    recorder.#show(source, settings.snapshot ? frame : { ...frame, screen: '' });
    recorder.#listen(source);
    return recorder;
  }

  /** Goes on with a recording that another process began. What came since its last place is taken from the log. */
  static async resume(
    source: RecordingSource,
    settings: RecorderSettings,
    part: BegunPart,
    parts: RecorderParts,
  ): Promise<Recorder> {
    const { off } = part.place ?? {};
    const isThere = off !== undefined && off <= source.end && source.read(off, off + 1).missed === 0;
    const frame = isThere ? undefined : await firstFrame(source);
    const recorder = new Recorder(settings, part, parts);
    if (frame === undefined) recorder.#catchUp(source, off ?? 0);
    else recorder.#show(source, off === undefined ? frame : { ...frame, screen: `\x1bc${frame.screen}` });
    recorder.#listen(source);
    return recorder;
  }

  /** Settles when the files are final. Never rejects. */
  get finished(): Promise<RecordingResult> {
    return this.#finished.promise;
  }

  get stopped(): boolean {
    return this.#stopReason !== undefined;
  }

  /** What its file does not say yet. */
  get told(): Pick<RecordingMetadata, 'commands' | 'people'> {
    return { commands: this.#commands, people: this.#people };
  }

  /** Why it was told to stop; undefined while it runs. */
  get stopReason(): StopReason | undefined {
    return this.#stopReason;
  }

  /** Where an event of now would stand, in seconds as it plays. */
  get moment(): number {
    const { cast, real } = this.#tape.time;
    const { idleTimeLimit } = this.settings;
    const since = Math.max(0, (this.#clock.monotonic() - this.#startMs) * 1000 - real);
    return (cast + (idleTimeLimit > 0 ? Math.min(since, idleTimeLimit * 1e6) : since)) / 1e6;
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

  #show(source: RecordingSource, { screen, pending }: FirstFrame): void {
    const nowMs = this.#clock.monotonic();
    this.#resized(source.size, nowMs);
    if (screen !== '') this.#tape.screen(screen, nowMs);
    this.#tape.output(pending, nowMs, source.end);
    this.#marks.mark(true);
  }

  #catchUp(source: RecordingSource, from: number): void {
    const nowMs = this.#clock.monotonic();
    this.#tape.recall(source.read(Math.max(0, from - recallBytes), from).bytes);
    this.#resized(source.size, nowMs);
    this.#tape.output(source.read(from).bytes, nowMs, source.end);
    this.#marks.mark(true);
  }

  #resized(size: Size, atMs: number): void {
    if (size.cols === this.#size.cols && size.rows === this.#size.rows) return;
    this.#size = size;
    this.#tape.resize(size, atMs);
  }

  #listen(source: RecordingSource): void {
    const { maxDuration, inactivityTimeout, input, markers } = this.settings;
    this.#listeners.push(
      source.onOutput((bytes, atMs, from) => {
        this.#lastOutputMs = atMs;
        this.#tape.output(bytes, atMs, from + bytes.length);
        this.#marks.mark();
      }),
      source.onResize((size) => this.#resized(size, this.#clock.monotonic())),
      source.onPeople((event, atMs = this.#clock.monotonic()) => {
        if (this.#people.length >= mostPeopleNotes) return;
        this.#people.push({ ...event, ms: Math.max(0, Math.round(atMs - this.#startMs)) });
      }),
      source.onCommand((event) => {
        if (event.phase === 'end') return this.#noteCommand(event);
        if (markers) this.#tape.marker((event.command ?? '').slice(0, maxLabel), this.#clock.monotonic());
        this.#marks.mark(true);
      }),
    );
    if (input) {
      this.#listeners.push(source.onInput((bytes, echo, atMs) => this.#tape.input(bytes, echo, atMs)));
    }
    if (maxDuration > 0) {
      const leftMs = Math.max(0, this.#startMs + maxDuration * 1000 - this.#clock.monotonic());
      this.#listeners.push(this.#clock.after(leftMs, () => void this.stop('max_duration')));
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
    const { file } = this.#part;
    if (line === '' || file.error !== undefined) return;
    const bytes = Buffer.byteLength(line);
    const full = file.size + bytes > this.#limits.castBytes;
    if (full || file.waiting + bytes > this.#limits.waitingBytes) {
      void this.stop('disk_full');
      return;
    }
    file.append(line);
    this.#progress.time(this.#tape.time);
    if (this.stopped) return;
    if (file.waiting >= flushBytes) void this.#flush();
    this.#flushTimer ??= this.#clock.after(flushMs, () => this.#tick());
  }

  #tick(): void {
    this.#flushTimer = undefined;
    this.#carefully(() => this.#tape.releaseStale(this.#clock.monotonic()));
    void this.#flush().then(() => {
      if (!this.stopped) this.#marks.mark(true);
      return this.#checkDisk();
    });
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

  /** Everything recorded so far is on the disk, but for a line that is being masked. */
  async flush(): Promise<void> {
    if (!this.stopped) await this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#part.file.flush();
    if (this.#part.file.error !== undefined) void this.stop('disk_full');
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
    await this.#part.places.close();
    const found = await this.#foundBefore();
    const stopReason = this.#part.file.error === undefined && bytesWritten !== undefined ? asked : 'disk_full';
    const hasFailed =
      failed || this.#commandFailed || found?.failed === true || (ended !== undefined && exitCode !== 0 && !closed);
    const { files, recordingId, sessionId, mode } = this.settings;
    const durationMs = Math.round(nowMs - this.#startMs);
    const more = { stopReason, exitCode, sessionId };
    const isKept = bytesWritten !== undefined && (mode === 'always' || hasFailed);
    await this.#keys?.close(bytesWritten ?? 0, isKept ? keysLimitMs : 0);
    if (bytesWritten === undefined) {
      const reason = `The disk does not answer; what it has is in ${files.part}.`;
      return { recordingId, path: '', durationMs, bytesWritten: 0, saved: false, mode, ...more, reason };
    }
    const result = { recordingId, path: files.cast, durationMs, bytesWritten, saved: true, mode };
    if (!isKept) {
      await discard(files);
      return { ...result, path: '', saved: false, ...more, reason: 'Nothing failed, and the mode is on-failure.' };
    }
    const commands = found?.commands ?? this.#commands;
    const metadata = this.#metadata({ ...more, durationMs, bytesWritten, failed: hasFailed, commands });
    const reason = await keep(files, metadata);
    return reason === undefined ? { ...result, ...more } : { ...result, path: '', saved: false, ...more, reason };
  }

  /** The size of the file; undefined when the disk does not answer. */
  async #closeFile(): Promise<number | undefined> {
    const limit = deferred<undefined>();
    using _timer = this.#clock.after(closeLimitMs, () => limit.resolve(undefined));
    return await Promise.race([this.#part.file.close(), limit.promise]);
  }

  /** The commands of the whole cast, where another process saw the first of them. */
  async #foundBefore(): Promise<Pick<RecordingMetadata, 'commands' | 'failed'> | undefined> {
    if (this.#part.place === undefined) return undefined;
    return await measureCast(this.settings.files.part).catch(() => undefined);
  }

  #metadata(
    facts: Pick<RecordingMetadata, 'stopReason' | 'exitCode' | 'durationMs' | 'bytesWritten' | 'failed' | 'commands'>,
  ): RecordingMetadata {
    const { recordingId, sessionId, mode, format, cols, rows, title, principal } = this.settings;
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
      commands: facts.commands.map((one) => ({ ...one, startMs: clamp(one.startMs), endMs: clamp(one.endMs) })),
      redactions: this.#tape.redactions,
      masked: this.settings.redact,
      ...(this.#people.length > 0 && { people: this.#people }),
      ...factsOfTerminal(this.settings),
      ...(principal === undefined ? {} : { principal }),
    };
  }
}
