import { setTimeout as delay } from 'node:timers/promises';
import { FairleadError } from '../../../contract/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { incident, type Log } from '../../../system/incident.ts';
import { writerState } from '../../../system/process-identity.ts';
import { removeFile } from '../../../system/files/remove-file.ts';
import { type Pause, pauses } from '../../../system/turns.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import type { LogEntry } from './entry.ts';
import { LogDocuments } from './log-documents.ts';
import { LogIndex } from './log-index.ts';
import { sealLog } from './seal-log.ts';
import type { RecordingSettings } from './settings.ts';

interface LogLibraryOptions {
  readonly root: string;
  readonly clock: Clock;
  readonly settings: RecordingSettings;
  readonly redactor: () => Redactor;
  readonly log?: Log | undefined;
}

const dayMs = 86_400_000;
const pruneMs = 3_600_000;
/** Rendering what no caller waits for takes a sixth of the processor at most. */
const workMs = 8;
const restMs = 40;

/** The recordings that have ended, of every instance of a state root. */
export class LogLibrary implements Disposable {
  readonly index: LogIndex;
  readonly documents: LogDocuments;
  readonly #options: LogLibraryOptions;
  readonly #ending = new AbortController();
  readonly #finishing = new Map<string, Promise<LogEntry>>();
  /** Calls that wait for a markdown. */
  #callers = 0;
  /** One is rendered at a time. */
  #last: Promise<unknown> = Promise.resolve();
  #pruning: Disposable | undefined;

  constructor(options: LogLibraryOptions) {
    this.#options = options;
    this.index = new LogIndex(options.root);
    this.documents = new LogDocuments({ index: this.index, ...options });
  }

  /** Recordings that wait for their markdown. */
  get waiting(): number {
    return this.#finishing.size;
  }

  /** Masks what leaves this machine's files, whatever the person wants of the markdown. */
  get redactor(): Redactor {
    return this.#options.redactor();
  }

  find(id: string): LogEntry {
    const entry = this.index.find(id);
    if (entry) return entry;
    throw new FairleadError('not_found', `Recording not found: ${id.slice(0, 80)}`, {
      hint: 'session.recording_list shows them; the id is unterm_session_id.',
    });
  }

  /** Renders and closes a recording that has ended, when its turn comes. Until then the next process could. */
  async finish(entry: LogEntry): Promise<LogEntry> {
    this.#callers += 1;
    try {
      return await this.#finish(entry);
    } finally {
      this.#callers -= 1;
    }
  }

  async #finish(entry: LogEntry): Promise<LogEntry> {
    const id = entry.unterm_session_id;
    const running = this.#finishing.get(id);
    if (running) return await running;
    this.index.put(entry);
    const work = this.#last.then(() => this.documents.close(entry, this.#pause()));
    this.#finishing.set(id, work);
    this.#last = work.catch(() => {}).finally(() => this.#finishing.delete(id));
    return await work;
  }

  /** The same where no caller waits for it: at a gentle pace, because the terminal that filled the log may still be busy. */
  async finishQuietly(entry: LogEntry): Promise<void> {
    try {
      await this.#finish(entry);
    } catch (thrown) {
      if (!this.#ending.signal.aborted) incident(thrown, 'the end of a recording', this.#options.log);
    }
  }

  /** Closes what dead processes left open, and removes what is too old. Tells how many it closed. */
  async recover(): Promise<number> {
    let count = 0;
    for (const entry of await this.index.open()) {
      if (this.#ending.signal.aborted) return count;
      if (writerState(entry.writer) !== 'dead') continue;
      count += 1;
      this.#callers += 1;
      await this.finishQuietly(await this.seal(entry)).finally(() => (this.#callers -= 1));
    }
    await this.prune();
    return count;
  }

  /** Ends the log of a dead process; of one that has ended nothing changes. */
  async seal(entry: LogEntry): Promise<LogEntry> {
    if (entry.ended_at !== null || writerState(entry.writer) !== 'dead') return entry;
    return await sealLog(entry);
  }

  /** Removes recordings that ended longer ago than the person keeps them; looks again every hour. */
  async prune(): Promise<void> {
    const { clock, settings, log } = this.#options;
    this.#pruning?.[Symbol.dispose]();
    if (this.#ending.signal.aborted) return;
    this.#pruning = clock.after(pruneMs, () => {
      this.prune().catch((thrown: unknown) => incident(thrown, 'old recordings', log));
    });
    const { retain_days } = settings.get();
    if (retain_days === 0) return;
    const before = clock.now() - retain_days * dayMs;
    const old = (await this.index.all()).filter(({ ended_at }) => ended_at !== null && Date.parse(ended_at) < before);
    for (const entry of old) await this.#remove(entry);
    if (old.length > 0) await this.index.refresh();
  }

  /** Removes a recording with its files. */
  async remove(id: string): Promise<void> {
    const entry = this.index.find(id);
    if (entry) await this.#remove(entry);
    await this.index.refresh();
  }

  [Symbol.dispose](): void {
    this.#pruning?.[Symbol.dispose]();
    this.#ending.abort();
  }

  /** Rests after each slice of work, as long as no caller waits. */
  #pause(): Pause {
    const { signal } = this.#ending;
    const pause = pauses(signal);
    let restedMs = performance.now();
    return async () => {
      await pause();
      if (this.#callers > 0 || performance.now() - restedMs < workMs) return;
      await delay(restMs, undefined, { signal, ref: false });
      restedMs = performance.now();
    };
  }

  async #remove({ unterm_session_id, log_path, md_path, is_exported }: LogEntry): Promise<void> {
    const files = [log_path ?? [], is_exported ? [] : md_path].flat();
    for (const path of files) await removeFile(path).catch(() => {});
    await this.index.forget(unterm_session_id);
  }
}
