import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectorySync } from '../../../system/files/directories.ts';
import { readText, writePrivate } from '../../../system/files/private-files.ts';
import { removeFile } from '../../../system/files/remove-file.ts';
import { indexEntry, LogEntry } from './entry.ts';

interface KnownEntry {
  readonly entry: LogEntry;
  readonly line: string;
}

const mostTries = 20;
const idShape = /^[0-9a-f-]{36}$/;

/**
 * The recordings of every instance of a state root. Each has a file of its own that one process writes, `<id>.open.json`
 * until it is closed, `<id>.json` after; `index.json` is made from them, for readers from elsewhere.
 */
export class LogIndex {
  readonly path: string;
  readonly #folder: string;
  /** Closed entries never change: each with its line in the index. */
  readonly #closed = new Map<string, KnownEntry>();
  #refreshing: Promise<void> | undefined;
  #again = false;

  constructor(root: string) {
    this.path = join(root, 'sessions', 'index.json');
    this.#folder = join(root, 'sessions', '.entries');
  }

  /** Writes an entry that is not closed. */
  put(entry: LogEntry): void {
    writePrivate(this.#file(entry.unterm_session_id, 'open'), textOf(entry));
  }

  /** Writes an entry for the last time. */
  async close(entry: LogEntry): Promise<void> {
    const id = entry.unterm_session_id;
    const open = this.#file(id, 'open');
    this.put(entry);
    // Two processes may close the same one after a crash: both know the same.
    await rename(open, this.#file(id, 'closed')).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }

  async forget(id: string): Promise<void> {
    this.#closed.delete(id);
    await Promise.all([removeFile(this.#file(id, 'open')), removeFile(this.#file(id, 'closed'))]);
  }

  find(id: string): LogEntry | undefined {
    if (!idShape.test(id)) return undefined;
    return this.#closed.get(id)?.entry ?? parse(readText(this.#file(id, 'open')) ?? readText(this.#file(id, 'closed')));
  }

  /** Every entry, oldest first; ids sort by time. */
  async all(): Promise<LogEntry[]> {
    return (await this.#all()).map(({ entry }) => entry);
  }

  async #all(): Promise<KnownEntry[]> {
    const names = (await this.#names()).filter((name) => /^[0-9a-f-]{36}(?:\.open)?\.json$/.test(name)).sort();
    const found = new Map<string, KnownEntry>();
    for (const name of names) {
      const known = await this.#read(name);
      if (known) found.set(known.entry.unterm_session_id, known);
    }
    for (const id of this.#closed.keys()) if (!found.has(id)) this.#closed.delete(id);
    return [...found.values()];
  }

  /** Those that no process has closed, whether or not it lives. */
  async open(): Promise<LogEntry[]> {
    const names = (await this.#names()).filter((name) => /^[0-9a-f-]{36}\.open\.json$/.test(name)).sort();
    const entries = await Promise.all(names.map((name) => this.#read(name)));
    return entries.flatMap((known) => (known ? [known.entry] : []));
  }

  /** Makes the index anew. Changes that come while it does are in it as well. */
  async refresh(): Promise<void> {
    this.#again = true;
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
  }

  async #refresh(): Promise<void> {
    // Another process may write an older state over a newer one: who writes last looks again after it.
    let written = '';
    for (let tries = 0; tries < mostTries; tries++) {
      this.#again = false;
      const text = `[\n${(await this.#all()).map(({ line }) => line).join(',\n')}\n]\n`;
      if (text === written && !this.#again) return;
      if (readText(this.path) !== text) writePrivate(this.path, text);
      written = text;
    }
  }

  async #names(): Promise<string[]> {
    return await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
  }

  async #read(name: string): Promise<KnownEntry | undefined> {
    const isOpen = name.endsWith('.open.json');
    const id = name.slice(0, 36);
    const known = this.#closed.get(id);
    if (known) return known;
    const entry = parse(await readFile(join(this.#folder, name), 'utf8').catch(() => undefined));
    // It may have been closed since it was listed.
    if (!entry && isOpen) return await this.#read(`${id}.json`);
    if (!entry) return undefined;
    const read = { entry, line: JSON.stringify(indexEntry(entry)) };
    if (!isOpen) this.#closed.set(id, read);
    return read;
  }

  #file(id: string, state: 'open' | 'closed'): string {
    makeDirectorySync(this.#folder, 0o700);
    return join(this.#folder, state === 'open' ? `${id}.open.json` : `${id}.json`);
  }
}

const textOf = (entry: LogEntry): string => `${JSON.stringify(entry)}\n`;

function parse(text: string | undefined): LogEntry | undefined {
  if (text === undefined) return undefined;
  try {
    return LogEntry.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
