import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { Emitter } from '../../lib/emitter.ts';
import { incident, type Log } from '../../system/incident.ts';
import { Redactor } from '../redaction/redactor.ts';
import { systemClock } from '../../system/clock.ts';
import type { CastFormat } from './cast/cast-writer.ts';
import { makeRecordingsDirectory } from './directory.ts';
import type { RecordingMode, RecordingOwner, StopReason } from './metadata.ts';
import { recordingFiles, recordingName } from './names.ts';
import { Recorder } from './recorder.ts';
import type { RecorderParts, RecorderSettings, RecordingResult } from './recorder-settings.ts';
import type { RawLogs } from './replay/entries.ts';
import { Replays } from './replay/replays.ts';
import { closeLeft, claimLeft } from './left-behind.ts';
import { type Recordable, terminalSource } from './terminal-source.ts';

export interface RecordingsOptions {
  /** Where casts go when a caller names no directory. */
  readonly dir: string;
  /** What `~` at the start of a directory means; the user's home by default. */
  readonly home?: string;
  /** Seconds. */
  readonly idleTimeLimit: number;
  readonly maxDuration: number;
  readonly inactivityTimeout: number;
  /** Record every terminal from its start. */
  readonly auto?: RecordingMode | 'off';
  /** The redactor of the moment, for recordings that are masked. */
  readonly redactor?: (() => Redactor) | undefined;
  readonly clock?: Clock;
  readonly log?: Log | undefined;
  /** The raw logs of sessions, which can be played, too. */
  readonly rawLogs?: (() => RawLogs | undefined) | undefined;
  /** The name of an instance whose terminals outlive its server: their recordings go on in the next one. */
  readonly instance?: string | undefined;
  readonly parts?: Omit<RecorderParts, 'clock' | 'log' | 'redactor'>;
}

export interface StartOptions {
  readonly format?: CastFormat | undefined;
  readonly mode?: RecordingMode | undefined;
  readonly outputDir?: string | undefined;
  readonly idleTimeLimit?: number | undefined;
  readonly maxDuration?: number | undefined;
  readonly inactivityTimeout?: number | undefined;
  readonly title?: string | undefined;
  readonly input?: boolean | undefined;
  readonly markers?: boolean | undefined;
  readonly redact?: boolean | undefined;
  readonly snapshot?: boolean | undefined;
}

export interface StartedRecording {
  readonly recordingId: string;
  /** Where the cast will be when it has stopped. */
  readonly path: string;
  readonly format: CastFormat;
  readonly mode: RecordingMode;
  readonly maxDuration: number;
  readonly inactivityTimeout: number;
  readonly sessionId: string;
  /** It has ended with its first frame. */
  readonly stopReason?: StopReason | undefined;
}

interface StartedAll {
  readonly recordings: readonly [StartedRecording, ...StartedRecording[]];
  /** Sessions that were left out because a recording of them runs. */
  readonly alreadyRecorded: readonly { readonly sessionId: string; readonly recordingId: string }[];
}

interface Active {
  readonly owner: RecordingOwner;
  readonly started: StartedRecording;
  /** Rejects when it could not be started. */
  readonly recorder: Promise<Recorder>;
  readonly part: string;
  /** Once it runs. */
  running?: Recorder;
}

const rememberMs = 3_600_000;
const rememberMost = 1_000;
const closeLimitMs = 2_000;

/** Every recording of this process: those that run, and for an hour those that have ended. */
export class Recordings implements AsyncDisposable {
  /** Told when a recording has ended, for whatever reason, and its files are final. */
  readonly finished = new Emitter<RecordingResult>();
  /** The id of a terminal, when a recording of it has begun or ended. */
  readonly changed = new Emitter<string>();
  readonly #options: RecordingsOptions;
  readonly #clock: Clock;
  readonly #active = new Map<string, Active>();
  /** Those of the active ones that have their first frame. */
  readonly #recorders = new Map<string, Recorder>();
  readonly #past = new Map<string, { readonly result: RecordingResult; readonly at: number }>();
  /** Plays them, those of earlier processes too. */
  readonly replays: Replays;
  readonly #ending = new AbortController();
  #redactor: Redactor | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: RecordingsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.replays = new Replays({
      dir: options.dir,
      redactor: () => this.#redacting(),
      logs: options.rawLogs,
      changed: this.changed,
      told: (id) => this.#active.get(id)?.running?.told,
      flush: async (id) => await this.#active.get(id)?.running?.flush(),
      closing: this.#ending.signal,
    });
  }

  get active(): readonly StartedRecording[] {
    return [...this.#active.values()].map(({ started }) => started);
  }

  /** The id of the recording of a terminal that was asked for. */
  activeOf(terminalId: string, owner: RecordingOwner = 'tool'): string | undefined {
    return this.#find(terminalId, owner)?.started.recordingId;
  }

  /** How far a recording is now, in seconds as it plays. */
  momentOf(recordingId: string): number | undefined {
    return this.#recorders.get(recordingId)?.moment;
  }

  /** Where casts go when a caller names no directory. */
  get dir(): string {
    return this.#options.dir;
  }

  /** The part files of a terminal's recordings: with their paths another process can go on with them. */
  partsOf(terminalId: string): string[] {
    const own = [...this.#active.values()].filter(({ started }) => started.sessionId === terminalId);
    return own.map(({ part }) => part);
  }

  /** Starts an automatic recording if configured and none goes on; call it for every new terminal. */
  async autoStart(terminal: Recordable): Promise<StartedRecording | undefined> {
    const { auto = 'off' } = this.#options;
    if (this.activeOf(terminal.id, 'cli') !== undefined) return undefined;
    return auto === 'off' ? undefined : await this.start(terminal, { mode: auto }, 'cli');
  }

  async startAll(terminals: readonly Recordable[], options: StartOptions = {}): Promise<StartedAll> {
    const running = terminals.filter((terminal) => terminal.ended === undefined);
    const alreadyRecorded = running.flatMap(({ id: sessionId }) => {
      const recordingId = this.activeOf(sessionId);
      return recordingId === undefined ? [] : [{ sessionId, recordingId }];
    });
    const [first, ...rest] = running.filter((terminal) => this.activeOf(terminal.id) === undefined);
    if (first === undefined) {
      const recorded = running[0] ?? terminals[0];
      if (recorded !== undefined) return { recordings: [await this.start(recorded, options)], alreadyRecorded };
      throw new FairleadError('not_found', 'There is no session to record.');
    }
    const starting = [this.start(first, options), ...rest.map((terminal) => this.start(terminal, options))] as const;
    return { recordings: await Promise.all(starting), alreadyRecorded };
  }

  async start(
    terminal: Recordable,
    options: StartOptions = {},
    owner: RecordingOwner = 'tool',
  ): Promise<StartedRecording> {
    if (this.#closing) throw new FairleadError('unavailable', 'The server is shutting down.');
    const other = this.#find(terminal.id, owner);
    if (other !== undefined) throw inProgress(other);
    // An automatic recording may start after the end; the last screen is worth keeping.
    if (terminal.ended !== undefined && owner === 'tool') throw nothingToRecord();
    const settings = this.#settings(terminal, options, owner);
    const { recordingId, sessionId, files } = settings;
    const started = startedBy(settings);
    // Registered before the first await, so that the second of two concurrent callers gets a conflict.
    const recorder = this.#record(terminal, settings);
    const active: Active = { owner, started, recorder, part: files.part };
    this.#active.set(recordingId, active);
    try {
      active.running = await recorder;
      const { stopReason } = active.running;
      if (stopReason === undefined) this.changed.emit(sessionId);
      return { ...started, stopReason };
    } catch (thrown) {
      this.#active.delete(recordingId);
      throw thrown;
    }
  }

  /** Goes on with recordings of a terminal that another process began, by the paths of their part files. Never rejects. */
  async resume(terminal: Recordable, parts: readonly string[]): Promise<void> {
    for (const path of parts) {
      try {
        await this.#resume(terminal, path);
      } catch (thrown) {
        incident(thrown, 'the resumption of a recording', this.#options.log);
      }
    }
  }

  /** Closes recordings that killed processes left behind, where no terminal goes on with them. Call it once all are resumed. */
  async closeLeft(): Promise<void> {
    await closeLeft(this.#options.dir, this.#options.instance);
  }

  async stop(recordingId: string, { failed = false }: { readonly failed?: boolean } = {}): Promise<RecordingResult> {
    this.#forgetOld();
    const past = this.#past.get(recordingId);
    if (past !== undefined) throw alreadyFinalized(past.result);
    const active = this.#active.get(recordingId);
    if (active === undefined) {
      throw new FairleadError('not_found', `Recording not found: ${recordingId}`);
    }
    const recorder = await active.recorder;
    if (recorder.stopped) throw alreadyFinalized(await recorder.finished);
    return await recorder.stop('explicit', { failed });
  }

  /** Stops the recording of a terminal that was asked for. */
  async stopOf(terminalId: string): Promise<RecordingResult> {
    const id = this.activeOf(terminalId);
    if (id === undefined) throw new FairleadError('not_found', `Terminal ${terminalId} is not being recorded.`);
    return await this.stop(id);
  }

  /** Finishes every recording; what takes longer than two seconds is left to `recover`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    this.#ending.abort();
    this.replays[Symbol.dispose]();
    const stopping = [...this.#active.values()].map(async ({ recorder }) => {
      await (await recorder).stop('server_shutdown');
    });
    const timer = { current: undefined as NodeJS.Timeout | undefined };
    const limit = new Promise<void>((done) => {
      timer.current = setTimeout(done, closeLimitMs);
    });
    await Promise.race([Promise.allSettled(stopping), limit]);
    clearTimeout(timer.current);
  }

  async #record(terminal: Recordable, settings: RecorderSettings): Promise<Recorder> {
    await makeRecordingsDirectory(settings.files.directory);
    return this.#awaitEnd(await Recorder.start(terminalSource(terminal), settings, this.#recorderParts));
  }

  async #resume(terminal: Recordable, path: string): Promise<void> {
    const left = this.#closing ? undefined : await claimLeft(path, terminal.id);
    if (left === undefined) return;
    const { settings, part } = left;
    const { recordingId, owner, files } = settings;
    const recorder = Recorder.resume(terminalSource(terminal), settings, part, this.#recorderParts);
    const active: Active = { owner, started: startedBy(settings), recorder, part: files.part };
    this.#active.set(recordingId, active);
    try {
      active.running = this.#awaitEnd(await recorder);
      this.changed.emit(terminal.id);
    } catch (thrown) {
      this.#active.delete(recordingId);
      throw thrown;
    }
  }

  get #recorderParts(): RecorderParts {
    const { parts, log } = this.#options;
    return { ...parts, clock: this.#clock, log, redactor: this.#redacting() };
  }

  #awaitEnd(recorder: Recorder): Recorder {
    this.#recorders.set(recorder.settings.recordingId, recorder);
    // `finished` never rejects; a listener that throws does not affect the recording.
    recorder.finished.then((result) => this.#noteEnd(result)).catch(() => {});
    return recorder;
  }

  #noteEnd(result: RecordingResult): void {
    this.#past.set(result.recordingId, { result, at: this.#clock.monotonic() });
    this.#active.delete(result.recordingId);
    this.#recorders.delete(result.recordingId);
    this.#forgetOld();
    this.changed.emit(result.sessionId);
    this.finished.emit(result);
  }

  #forgetOld(): void {
    for (const [id, { at }] of this.#past) {
      if (this.#past.size <= rememberMost && this.#clock.monotonic() - at < rememberMs) break;
      this.#past.delete(id);
    }
  }

  #find(terminalId: string, owner: RecordingOwner): Active | undefined {
    return [...this.#active.values()].find((one) => one.started.sessionId === terminalId && one.owner === owner);
  }

  #settings(terminal: Recordable, options: StartOptions, owner: RecordingOwner): RecorderSettings {
    const startTime = this.#clock.now();
    const recordingId = randomBytes(8).toString('hex');
    const directory = resolve(expandHome(options.outputDir ?? this.#options.dir, this.#options.home ?? homedir()));
    return {
      recordingId,
      sessionId: terminal.id,
      startTime,
      files: recordingFiles(directory, recordingName(startTime, recordingId)),
      cols: terminal.screen.size.cols,
      rows: terminal.screen.size.rows,
      title: options.title ?? null,
      format: options.format ?? 'v2',
      mode: options.mode ?? 'always',
      idleTimeLimit: options.idleTimeLimit ?? this.#options.idleTimeLimit,
      maxDuration: options.maxDuration ?? this.#options.maxDuration,
      inactivityTimeout: options.inactivityTimeout ?? this.#options.inactivityTimeout,
      input: options.input ?? false,
      markers: options.markers ?? false,
      snapshot: options.snapshot ?? true,
      term: 'xterm-256color',
      redact: options.redact ?? false,
      owner,
      principal: terminal.identity.owner,
      target: terminal.identity.target,
      name: terminal.identity.name,
      program: terminal.identity.program,
      instance: terminal.durable?.farSide === undefined ? undefined : this.#options.instance,
    };
  }

  #redacting(): Redactor {
    return this.#options.redactor?.() ?? (this.#redactor ??= new Redactor({ key: randomBytes(32) }));
  }
}

function startedBy(settings: RecorderSettings): StartedRecording {
  const { recordingId, format, mode, maxDuration, inactivityTimeout, sessionId, files } = settings;
  return { recordingId, path: files.cast, format, mode, maxDuration, inactivityTimeout, sessionId };
}

function expandHome(directory: string, home: string): string {
  return /^~(?=\/|$)/.test(directory) ? join(home, directory.slice(1)) : directory;
}

function nothingToRecord(): FairleadError {
  return new FairleadError('terminal_exited', 'The program in this session has ended; there is nothing to record.', {
    hint: 'Its last screen can still be read; record a session that runs.',
  });
}

function inProgress({ started }: Active): FairleadError {
  return new FairleadError('conflict', 'A recording is already in progress', {
    hint: `Stop it first: recordingId ${started.recordingId}.`,
    data: { activeRecordingId: started.recordingId, activePath: started.path },
  });
}

function alreadyFinalized(result: RecordingResult): FairleadError {
  return new FairleadError('conflict', `Recording already finalized: ${result.recordingId}`, { data: { ...result } });
}
