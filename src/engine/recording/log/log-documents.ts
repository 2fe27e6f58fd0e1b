import { readFile } from 'node:fs/promises';
import { FairleadError } from '../../../contract/errors.ts';
import { writePrivate } from '../../../system/files/private-files.ts';
import { removeFile } from '../../../system/files/remove-file.ts';
import { type Pause, pauses } from '../../../system/turns.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import type { LogEntry } from './entry.ts';
import type { LogIndex } from './log-index.ts';
import type { LogEvent } from './log-line.ts';
import { readLog } from './log-reader.ts';
import { logMarkdown } from './markdown.ts';
import type { RecordingSettings } from './settings.ts';

interface LogDocumentsOptions {
  readonly index: LogIndex;
  readonly settings: RecordingSettings;
  readonly redactor: () => Redactor;
}

export interface ReadOptions {
  /** With the recordings it continues, and those that continue it. */
  readonly chain?: boolean | undefined;
  readonly maxBlocks?: number | undefined;
  /** A longer document is refused. */
  readonly mostChars?: number | undefined;
}

const longestChain = 10_000;
/** What one answer can carry. */
const longestDocument = 64 << 20;

/** The markdown of recordings: written once when one is closed, made anew from the raw log when it is read. */
export class LogDocuments {
  readonly #options: LogDocumentsOptions;

  constructor(options: LogDocumentsOptions) {
    this.#options = options;
  }

  /** Masks secrets as the person wants it now. */
  get redactor(): Redactor | undefined {
    const { settings, redactor } = this.#options;
    return settings.get().redaction.enabled ? redactor() : undefined;
  }

  /** Renders an entry that has ended, and closes it for good. */
  async close(entry: LogEntry, pause: Pause): Promise<LogEntry> {
    const { index, settings } = this.#options;
    const { log_path } = entry;
    let closed = log_path === null ? entry : await this.#rendered(entry, log_path, pause);
    if (closed.log_path !== null && !settings.get().keep_raw) {
      await removeFile(closed.log_path);
      closed = { ...closed, log_path: null };
    }
    await index.close(closed);
    await index.refresh();
    return closed;
  }

  /** Without its log, which a person or a process that died removed, the facts of the entry stand, and the markdown there is. */
  async #rendered(entry: LogEntry, log: string, pause: Pause): Promise<LogEntry> {
    try {
      return (await this.write(entry, readLog(log), pause)).entry;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return { ...entry, log_path: null };
    }
  }

  /** Writes the markdown of these events to the place of the entry. */
  async write(
    entry: LogEntry,
    events: AsyncIterable<LogEvent> | Iterable<LogEvent>,
    pause: Pause,
    maxBlocks?: number,
  ): Promise<{ readonly entry: LogEntry; readonly markdown: string }> {
    const options = { redactor: this.redactor, pause, maxBlocks };
    const { markdown, facts } = await logMarkdown(entry, events, options);
    writePrivate(entry.md_path, markdown);
    return { entry: { ...entry, ...facts }, markdown };
  }

  async read(entry: LogEntry, options: ReadOptions, signal: AbortSignal): Promise<string> {
    const { chain = false, maxBlocks, mostChars = longestDocument } = options;
    const all = chain ? await this.#chainOf(entry) : [entry];
    const parts: string[] = [];
    let chars = 0;
    for (const [at, one] of all.entries()) {
      const part = await this.#one(one, at > 0, maxBlocks, signal);
      chars += part.length;
      if (chars > mostChars) throw tooLong(all.length);
      parts.push(part);
    }
    return parts.join('\n');
  }

  async #one(
    entry: LogEntry,
    isContinued: boolean,
    maxBlocks: number | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    try {
      if (entry.log_path === null) return await readFile(entry.md_path, 'utf8');
      const options = { redactor: this.redactor, pause: pauses(signal), maxBlocks, isContinued };
      return (await logMarkdown(entry, readLog(entry.log_path), options)).markdown;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      if (entry.log_path !== null) return await this.#one({ ...entry, log_path: null }, isContinued, maxBlocks, signal);
      throw new FairleadError('not_found', `The files of recording ${entry.unterm_session_id} are gone`, {
        hint: `They were ${entry.md_path} and the raw log beside it.`,
        cause: error,
      });
    }
  }

  /** From the first recording to the last, oldest first. */
  async #chainOf(entry: LogEntry): Promise<LogEntry[]> {
    const all = await this.#options.index.all();
    const byId = new Map(all.map((one) => [one.unterm_session_id, one]));
    const byParent = new Map(all.map((one) => [one.parent_session_id, one]));
    const seen = new Set([entry.unterm_session_id]);
    const follow = (next: (one: LogEntry) => LogEntry | undefined): LogEntry[] => {
      const found: LogEntry[] = [];
      for (let one = next(entry); one && seen.size < longestChain; one = next(one)) {
        if (seen.has(one.unterm_session_id)) break;
        seen.add(one.unterm_session_id);
        found.push(one);
      }
      return found;
    };
    const before = follow(({ parent_session_id }) => byId.get(parent_session_id ?? ''));
    const after = follow(({ unterm_session_id }) => byParent.get(unterm_session_id));
    return [...before.reverse(), entry, ...after];
  }
}

const tooLong = (count: number): FairleadError =>
  new FairleadError('too_large', `Together these ${count} recordings are too long for one document.`, {
    hint: 'Read them one by one, without chain, or give max_blocks.',
  });
