import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { Emitter } from '../../lib/emitter.ts';
import type { Log } from '../../system/incident.ts';
import { Redactor } from '../redaction/redactor.ts';
import { systemClock } from '../../system/clock.ts';
import type { CastFormat } from './cast/cast-writer.ts';
import { makeRecordingsDirectory } from './directory.ts';
import type { RecordingMode, StopReason } from './metadata.ts';
import { recordingFiles, recordingName } from './names.ts';
import { Recorder, type RecorderParts, type RecorderSettings, type RecordingResult } from './recorder.ts';
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
  readonly parts?: Omit<RecorderParts, 'clock' | 'log'>;
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

/** Requested recordings and automatic ones run independently. */
export type Owner = 'tool' | 'cli';

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
  readonly owner: Owner;
  readonly started: StartedRecording;
  /** Rejects when it could not be started. */
  readonly recorder: Promise<Recorder>;
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
  readonly #past = new Map<string, { readonly result: RecordingResult; readonly at: number }>();
  #redactor: Redactor | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: RecordingsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  get active(): readonly StartedRecording[] {
    return [...this.#active.values()].map(({ started }) => started);
  }

  /** The id of the recording of a terminal that was asked for. */
  activeOf(terminalId: string, owner: Owner = 'tool'): string | undefined {
    return this.#find(terminalId, owner)?.started.recordingId;
  }

  /** Starts an automatic recording if configured; call it for every new terminal. */
  async autoStart(terminal: Recordable): Promise<StartedRecording | undefined> {
    const { auto = 'off' } = this.#options;
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

  async start(terminal: Recordable, options: StartOptions = {}, owner: Owner = 'tool'): Promise<StartedRecording> {
    if (this.#closing) throw new FairleadError('unavailable', 'The server is shutting down.');
    const other = this.#find(terminal.id, owner);
    if (other !== undefined) throw inProgress(other);
    // An automatic recording may start after the end; the last screen is worth keeping.
    if (terminal.ended !== undefined && owner === 'tool') throw nothingToRecord();
    const settings = this.#settings(terminal, options);
    const { recordingId, format, mode, maxDuration, inactivityTimeout, sessionId, files } = settings;
    const started = { recordingId, path: files.cast, format, mode, maxDuration, inactivityTimeout, sessionId };
    // Registered before the first await, so that the second of two concurrent callers gets a conflict.
    const recorder = this.#record(terminal, settings);
    this.#active.set(recordingId, { owner, started, recorder });
    try {
      const { stopReason } = await recorder;
      if (stopReason === undefined) this.changed.emit(sessionId);
      return { ...started, stopReason };
    } catch (thrown) {
      this.#active.delete(recordingId);
      throw thrown;
    }
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
    const recorder = await Recorder.start(terminalSource(terminal), settings, {
      ...this.#options.parts,
      clock: this.#clock,
      log: this.#options.log,
    });
    // `finished` never rejects; a listener that throws does not affect the recording.
    recorder.finished.then((result) => this.#noteEnd(result)).catch(() => {});
    return recorder;
  }

  #noteEnd(result: RecordingResult): void {
    this.#past.set(result.recordingId, { result, at: this.#clock.monotonic() });
    this.#active.delete(result.recordingId);
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

  #find(terminalId: string, owner: Owner): Active | undefined {
    return [...this.#active.values()].find((one) => one.started.sessionId === terminalId && one.owner === owner);
  }

  #settings(terminal: Recordable, options: StartOptions): RecorderSettings {
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
      redactor: options.redact === true ? this.#redacting() : undefined,
    };
  }

  #redacting(): Redactor {
    return this.#options.redactor?.() ?? (this.#redactor ??= new Redactor({ key: randomBytes(32) }));
  }
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
