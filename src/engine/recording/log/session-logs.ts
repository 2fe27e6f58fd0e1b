import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { FairleadError } from '../../../contract/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { Emitter } from '../../../lib/emitter.ts';
import { diskTrouble } from '../../../system/files/disk-trouble.ts';
import { removeFile } from '../../../system/files/remove-file.ts';
import { incident, type Log } from '../../../system/incident.ts';
import { settledWithin } from '../../../system/settled-within.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { freeBytes } from '../directory.ts';
import type { OpenPart } from '../part-file.ts';
import type { RawLogs } from '../replay/entries.ts';
import { type Recordable, terminalSource } from '../terminal-source.ts';
import type { ExitReason, LogEntry } from './entry.ts';
import { type ExportedMarkdown, exportLog, type ExportRequest } from './export-log.ts';
import { LogLibrary } from './log-library.ts';
import { type LogPlace, openLog, type WantedPlace } from './log-place.ts';
import { type LogLimits, LogRecorder } from './log-recorder.ts';
import { newEntry } from './new-entry.ts';
import type { RecordingSettings } from './settings.ts';

export interface SessionLogsOptions {
  /** The state root. */
  readonly root: string;
  /** The person's home. */
  readonly home?: string | undefined;
  readonly version: string;
  readonly settings: RecordingSettings;
  readonly redactor: () => Redactor;
  readonly clock: Clock;
  readonly log?: Log | undefined;
  /** Replaceable in tests. */
  readonly parts?: {
    readonly open?: OpenPart;
    readonly freeBytes?: (directory: string) => Promise<number>;
    readonly limits?: Partial<LogLimits & { readonly freeBytes: number }>;
  };
}

/** What a log is made of. */
export interface Loggable extends Recordable {
  readonly identity: Pick<Terminal['identity'], 'program' | 'number' | 'owner' | 'createdAt'> &
    Partial<Pick<Terminal['identity'], 'name' | 'target'>>;
}

interface LogStart {
  readonly input?: boolean;
  /** The recording that the new one continues. */
  readonly parent?: LogEntry;
}

interface ActiveLog {
  readonly terminal: Loggable;
  /** Rejects when it could not be started. */
  readonly starting: Promise<LogRecorder>;
  recorder?: LogRecorder;
  savedMs: number;
}

const usual = { rawBytes: 5 << 20, blocks: 1000, waitingBytes: 16 << 20, freeBytes: 200e6 };
/** A flood fills the disk faster than it can be rendered: about 200 MB of it are kept waiting. */
const mostWaiting = 40;
const saveMs = 5000;
const closeLimitMs = 900;

/** The session logs of this process: a raw log per recorded terminal, which becomes markdown when it ends. */
export class SessionLogs implements AsyncDisposable {
  readonly library: LogLibrary;
  readonly settings: RecordingSettings;
  /** The id of a terminal, when its recording has begun, rotated or ended. */
  readonly changed = new Emitter<string>();
  readonly #options: SessionLogsOptions;
  readonly #active = new Map<string, ActiveLog>();
  /** Terminal to the recording that the next process goes on behind. */
  readonly #goesOn = new Map<string, string>();
  /** Recordings that are being ended, by terminal. */
  readonly #ends = new Map<string, Promise<LogEntry>>();
  /** Why a recording ended by itself, by terminal. */
  readonly #troubles = new Map<string, string>();
  #closing = false;

  constructor(options: SessionLogsOptions) {
    this.#options = options;
    this.settings = options.settings;
    this.library = new LogLibrary(options);
  }

  /** What masks secrets in recordings, with these patterns in place of the person's. */
  redactorWith(patterns: readonly string[]): Redactor {
    return this.#options.redactor().withPatterns(patterns);
  }

  /** The id of the recording of a terminal. */
  activeOf(terminalId: string): string | undefined {
    return this.#active.get(terminalId)?.recorder?.entry.unterm_session_id;
  }

  /** The facts of the recording of a terminal, as they are now. */
  entryOf(terminalId: string): LogEntry | undefined {
    return this.#active.get(terminalId)?.recorder?.entry;
  }

  /** As players see them: those that run with the facts of now. */
  get rawLogs(): RawLogs {
    const { library } = this;
    const now = (entry: LogEntry): LogEntry => {
      const live = this.entryOf(entry.terminal);
      return live?.unterm_session_id === entry.unterm_session_id ? live : entry;
    };
    // One of ours that does not run has ended, though its markdown is still to be written.
    const ended_at = new Date(this.#options.clock.now()).toISOString();
    const listed = (entry: LogEntry): LogEntry =>
      entry.ended_at === null && now(entry) === entry && entry.writer.pid === process.pid
        ? { ...entry, ended_at }
        : now(entry);
    return {
      all: async () => (await library.index.all()).map(listed),
      find: (id) => library.index.find(id),
      current: async (entry) => {
        const live = now(entry);
        if (live !== entry) await this.flush(entry.terminal);
        else if (entry.ended_at === null) await this.settled(entry.terminal);
        return live === entry ? (library.index.find(entry.unterm_session_id) ?? entry) : live;
      },
      changed: this.changed,
      remove: (id) => library.remove(id),
    };
  }

  /** What the next process needs to go on with the recording of a terminal. */
  continues(terminalId: string): string | undefined {
    return this.#goesOn.get(terminalId);
  }

  /** What a person should know about recordings: settings and patterns that cannot be used, a disk that is full. */
  problems(terminalId: string): string[] {
    const { settings, library } = this;
    const own = [settings.problem, this.#troubles.get(terminalId)].filter((one) => one !== undefined);
    return [...own, ...(library.documents.redactor?.problems ?? [])];
  }

  /** Call it for every new terminal. Never rejects: a terminal works without its recording. */
  async opened(terminal: Loggable): Promise<void> {
    try {
      if (this.settings.get().recording.enabled) await this.#begin(terminal, {});
    } catch (thrown) {
      this.#trouble(terminal.id, 'The recording could not be started', thrown);
    }
  }

  /** The same for a terminal of another process; `known` is what `continues` said there. */
  async resumed(terminal: Loggable, known: string | undefined): Promise<void> {
    try {
      const parent = await this.#leftBehind(terminal.id, known);
      if (parent) await this.#begin(terminal, { parent, input: parent.input });
    } catch (thrown) {
      this.#trouble(terminal.id, 'The recording could not be continued', thrown);
    }
  }

  async start(terminal: Loggable, options: Pick<LogStart, 'input'> = {}): Promise<LogEntry> {
    const { number } = terminal.identity;
    if (this.#closing) throw new FairleadError('unavailable', 'The server is shutting down.');
    if (this.#active.has(terminal.id)) {
      throw new FairleadError('conflict', `Recording already active for pane ${number}`, {
        hint: 'session.recording_status tells about it, session.recording_stop ends it.',
      });
    }
    return (await this.#begin(terminal, options)).entry;
  }

  async stop(terminal: Loggable): Promise<LogEntry> {
    const active = await this.#running(terminal);
    return await this.#end(active, 'recording_stopped');
  }

  async attachTrace(terminal: Loggable, trace: string): Promise<readonly string[]> {
    const { recorder } = await this.#running(terminal);
    if (recorder.entry.trace_ids.length >= 100) {
      throw new FairleadError('limit_reached', 'A recording has at most 100 trace ids');
    }
    const masked = this.library.documents.redactor?.redactText(trace).text ?? trace;
    const all = recorder.addTrace(masked);
    this.#save(recorder.entry);
    return all;
  }

  /** Renders what a terminal still has of its output, without a recording. */
  async export(terminal: Loggable, request: ExportRequest, signal: AbortSignal): Promise<ExportedMarkdown> {
    const { version } = this.#options;
    return await exportLog(this.library, terminal, request, { wanted: this.#wanted(terminal), version }, signal);
  }

  /** Everything recorded so far is in the log. */
  async flush(terminalId: string): Promise<void> {
    await this.#active.get(terminalId)?.recorder?.flush();
  }

  /** Settles when the recording of a terminal that is being ended has its markdown. Never rejects. */
  async settled(terminalId: string): Promise<void> {
    await this.#ends.get(terminalId)?.catch(() => {});
  }

  /** Ends every log; what is not rendered in time is rendered by the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    const ends = [...this.#active.values()].map((active) => this.#end(active, 'server_shutdown'));
    await settledWithin(Promise.allSettled(ends), closeLimitMs);
    this.library[Symbol.dispose]();
  }

  async #running(terminal: Loggable): Promise<ActiveLog & { readonly recorder: LogRecorder }> {
    const active = this.#active.get(terminal.id);
    const recorder = await active?.starting;
    if (active && recorder && active.recorder) return active as ActiveLog & { readonly recorder: LogRecorder };
    throw new FairleadError('not_found', `No active recording for pane ${terminal.identity.number}`, {
      hint: 'session.recording_start begins one.',
    });
  }

  async #begin(terminal: Loggable, options: LogStart): Promise<LogRecorder> {
    this.#troubles.delete(terminal.id);
    const starting = this.#open(terminal).then((place) => this.#record(terminal, place, options));
    // Registered before the first await, so that the second of two concurrent callers gets a conflict.
    const active: ActiveLog = { terminal, starting, savedMs: this.#options.clock.monotonic() };
    this.#active.set(terminal.id, active);
    try {
      active.recorder = await starting;
    } catch (thrown) {
      this.#active.delete(terminal.id);
      throw thrown;
    }
    this.#noteChange(terminal.id);
    terminal.whenEnded
      .then(async () => {
        if (this.#active.get(terminal.id) === active) await this.#end(active, 'session_exit');
      })
      .catch((thrown: unknown) => this.#trouble(terminal.id, 'The recording could not be rendered', thrown));
    return active.recorder;
  }

  async #open(terminal: Loggable): Promise<LogPlace> {
    const { parts } = this.#options;
    const opened = await openLog(this.#wanted(terminal), { open: parts?.open });
    const free = await this.#free(opened.log);
    const needed = parts?.limits?.freeBytes ?? usual.freeBytes;
    if (free >= needed) return opened;
    await this.#drop(opened);
    throw new FairleadError('unavailable', `There is too little room for a recording in ${dirname(opened.log)}`, {
      hint: `It needs ${Math.round(needed / 1e6)} MB, and ${Math.round(free / 1e6)} MB are free.`,
    });
  }

  #wanted({ place: { cwd, isHere }, identity: { number: tab } }: Loggable): WantedPlace {
    const { root, home = homedir(), clock } = this.#options;
    return { root, home, cwd, isHere, tab, time: clock.now() };
  }

  #record(terminal: Loggable, place: LogPlace, { parent, input = false }: LogStart): LogRecorder {
    const { clock, version, log, settings, parts } = this.#options;
    const source = terminalSource(terminal);
    const entry: LogEntry = {
      ...newEntry(terminal, place, { version, time: clock.now() }),
      log_path: place.log,
      md_path: place.md,
      redaction_active: settings.get().redaction.enabled,
      parent_session_id: parent?.unterm_session_id ?? null,
      trace_ids: parent?.trace_ids ?? [],
      // A log that begins behind the end of the output would have been of another terminal.
      from_offset: Math.min(parent?.to_offset ?? source.end, source.end),
      input,
    };
    const limits = {
      ...usual,
      idleMs: () => settings.get().idle_rotate_minutes * 60_000,
      isBehind: () => this.library.waiting > mostWaiting,
      ...parts?.limits,
    };
    const recorder: LogRecorder = new LogRecorder({
      source,
      entry,
      file: place.file,
      clock,
      limits,
      log,
      onFull: (reason) => void this.#rotate(terminal, recorder, reason),
      onTick: () => void this.#tick(terminal.id, recorder),
    });
    this.#goesOn.set(terminal.id, entry.unterm_session_id);
    this.#save(entry);
    recorder.begin();
    return recorder;
  }

  /** Goes on in another recording, without losing a byte between the two. */
  async #rotate(terminal: Loggable, recorder: LogRecorder, reason: ExitReason): Promise<void> {
    try {
      const place = await this.#open(terminal);
      const active = this.#active.get(terminal.id);
      if (recorder.stopped || active?.recorder !== recorder) return await this.#drop(place);
      // Nothing may come between the end of one and the beginning of the other: no await until both are done.
      const stopping = recorder.stop(reason);
      const parent = recorder.entry;
      active.recorder = this.#record(terminal, place, { parent, input: parent.input });
      this.#noteChange(terminal.id);
      await this.library.finishQuietly(await stopping);
    } catch (thrown) {
      await this.#endInTrouble(terminal.id, recorder, thrown);
    }
  }

  async #tick(terminalId: string, recorder: LogRecorder): Promise<void> {
    const active = this.#active.get(terminalId);
    if (recorder.stopped || active?.recorder !== recorder) return;
    const { clock, parts } = this.#options;
    const free = await this.#free(recorder.entry.log_path ?? '');
    const isFull = free < (parts?.limits?.freeBytes ?? usual.freeBytes);
    if (recorder.error !== undefined || isFull) return await this.#endInTrouble(terminalId, recorder, recorder.error);
    if (clock.monotonic() - active.savedMs < saveMs) return;
    active.savedMs = clock.monotonic();
    this.library.index.put(recorder.entry);
  }

  async #endInTrouble(terminalId: string, recorder: LogRecorder, thrown: unknown): Promise<void> {
    const active = this.#active.get(terminalId);
    if (active?.recorder !== recorder || this.#closing) return;
    this.#trouble(terminalId, 'The recording was ended', thrown);
    await this.#end(active, 'recording_stopped').catch(() => {});
  }

  async #end(active: ActiveLog, reason: ExitReason): Promise<LogEntry> {
    const { id } = active.terminal;
    const running = this.#ends.get(id);
    if (running) return await running;
    const ending = this.#close(active, reason).finally(() => this.#ends.delete(id));
    this.#ends.set(id, ending);
    return await ending;
  }

  async #close(active: ActiveLog, reason: ExitReason): Promise<LogEntry> {
    const { id } = active.terminal;
    const recorder = active.recorder ?? (await active.starting);
    if (reason !== 'server_shutdown') this.#goesOn.delete(id);
    const stopping = recorder.stop(reason);
    this.#active.delete(id);
    this.#noteChange(id);
    return await this.library.finish(await stopping);
  }

  /** The recording that another process began of this terminal, ended where that process left it. */
  async #leftBehind(terminalId: string, known: string | undefined): Promise<LogEntry | undefined> {
    const { index } = this.library;
    const open = (await index.open()).filter(({ terminal }) => terminal === terminalId);
    // Of several, the others have been continued and only wait for their markdown.
    const left = open.findLast(({ ended_at }) => ended_at === null) ?? open.at(-1);
    const entry = left ?? (known === undefined ? undefined : index.find(known));
    if (entry?.terminal !== terminalId) return undefined;
    const ended = await this.library.seal(entry);
    if (ended.exit_reason !== 'recovered' && ended.exit_reason !== 'server_shutdown') return undefined;
    if (left) index.put(ended);
    return ended;
  }

  #save(entry: LogEntry): void {
    this.library.index.put(entry);
    this.library.index.refresh().catch((thrown: unknown) => incident(thrown, 'the index', this.#options.log));
  }

  #noteChange(terminalId: string): void {
    try {
      this.changed.emit(terminalId);
    } catch (thrown) {
      incident(thrown, 'a recording', this.#options.log);
    }
  }

  #trouble(terminalId: string, what: string, thrown: unknown): void {
    const why = diskTrouble(thrown) ?? (thrown === undefined ? 'the disk is almost full' : undefined);
    if (why === undefined) incident(thrown, 'a recording', this.#options.log);
    else this.#options.log?.(`${what}: ${why}.`);
    const told = thrown instanceof FairleadError ? thrown.message : (why ?? "see the server's log");
    this.#troubles.set(terminalId, `${what}: ${told}.`);
  }

  async #free(path: string): Promise<number> {
    const { parts } = this.#options;
    return await (parts?.freeBytes ?? freeBytes)(dirname(path)).catch(() => Number.POSITIVE_INFINITY);
  }

  async #drop({ file, log }: LogPlace): Promise<void> {
    await file.close();
    await removeFile(log).catch(() => {});
  }
}
