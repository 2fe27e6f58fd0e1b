import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Emitter } from '../../../lib/emitter.ts';
import { type Append, append, appendWhole } from '../../../system/files/append-whole.ts';
import type { AuditEntry } from './audit.ts';
import { TrailChecks } from './checks.ts';
import { type TrailPage, trailPage, type TrailQuery, wholeFile } from './pages.ts';
import { newestRecords, recordsBackwards, type AuditQuery } from './read.ts';
import {
  dayOf,
  folderOf,
  headsOf,
  lostEntries,
  keyPath,
  recordLine,
  macOf,
  oldestKept,
  readHeads,
  trailFiles,
  type TrailHead,
  trailFormat,
  type TrailRecord,
} from './records.ts';
import { diskTrouble } from '../../../system/files/disk-trouble.ts';
import { installationKey } from '../../../system/installation-key.ts';
import { makeDirectorySync } from '../../../system/files/directories.ts';
import { serviceKey } from '../service.ts';
import { writePrivate } from '../../../system/files/private-files.ts';
import { removeFileSync } from '../../../system/files/remove-file.ts';

/** Debounce for the head file, which costs more than a call: lines lost this shortly before a crash go unnoticed. */
const vouchMs = 1000;

/**
 * The audit trail on disk: one private file a day, kept for two weeks. Editing, moving or removing a line
 * breaks the hash chain of its writer, and `verifyTrail` reports where. The hashes are keyed, so someone who can write
 * these files but cannot read the key cannot forge records.
 */
export class AuditTrail implements AsyncDisposable {
  /** What was written, once it is on disk. */
  readonly added = new Emitter<TrailRecord>();
  readonly checks: TrailChecks;
  readonly #root: string;
  readonly #folder: string;
  readonly #warn: (message: string) => void;
  readonly #writer = randomUUID();
  #key: Buffer | undefined;
  #last: TrailHead | undefined;
  #day = '';
  #file: { readonly day: string; readonly fd: number } | undefined;
  readonly #write: Append;
  /** Records that could not be written since the last one that could. */
  #lost = 0;
  #unread = false;
  #due: NodeJS.Timeout | undefined;

  constructor(root: string, warn: (message: string) => void, write: Append = append) {
    this.#write = write;
    this.#root = root;
    this.checks = new TrailChecks(root);
    this.#folder = folderOf(root);
    this.#warn = warn;
  }

  add(entry: AuditEntry): void {
    if (!isKept(entry)) return;
    try {
      if (this.#lost > 0) this.#put(lostEntries(entry.at, this.#lost));
      this.#lost = 0;
      this.#put(entry);
    } catch (error) {
      if (this.#lost === 0) this.#complain(error);
      this.#lost += 1;
    }
  }

  #put(entry: AuditEntry): void {
    const today = entry.at.slice(0, 10);
    if (today !== this.#day) this.#begin(today);
    this.#key ??= installationKey(keyPath(this.#root));
    const last = this.#last;
    const before = last === undefined ? { n: 1, prev: '' } : { n: last.n + 1, prev: last.hash, prevDay: last.day };
    const record = { ...entry, format: trailFormat, writer: this.#writer, ...before };
    const { line, hash } = recordLine(JSON.stringify(record), this.#key);
    // Synchronous and in order: a killed server has written what it did.
    appendWhole(this.#open(today), line, this.#write);
    this.#last = { writer: this.#writer, n: before.n, hash, day: today };
    if (before.n === 1) this.vouch();
    else this.#due ??= setTimeout(() => this.vouch(), vouchMs).unref();
    this.added.emit({ ...record, hash });
  }

  /** The process that writes it. */
  get writer(): string {
    return this.#writer;
  }

  /** Some of what is on disk, the newest first. */
  async page(query: TrailQuery, signal: AbortSignal): Promise<TrailPage> {
    return await trailPage(this.#root, query, signal, (error) =>
      this.#warn(`The audit trail cannot be read: ${error.message}`),
    );
  }

  /** The days that are on disk, the oldest first. */
  get days(): string[] {
    return trailFiles(this.#root).flatMap((file) => dayOf(file) ?? []);
  }

  /** The file of a day, byte for byte; undefined when there is none. */
  async day(day: string, mostBytes: number): Promise<Buffer | undefined> {
    const file = trailFiles(this.#root).find((one) => dayOf(one) === day);
    return file === undefined ? undefined : await wholeFile(file, mostBytes);
  }

  #complain(error: unknown): void {
    this.#warn(`The audit trail cannot be written: ${diskTrouble(error) ?? (error as Error).message}`);
  }

  /**
   * The newest matching records, newest first, up to the limit: those on disk, and those of this server that it could not
   * write or cannot read back.
   */
  async newest(
    wanted: AuditQuery,
    remembered: readonly AuditEntry[],
    most: number,
    signal: AbortSignal,
  ): Promise<readonly AuditEntry[]> {
    let unread = false;
    const found = await newestRecords(this.#root, wanted, most, signal, (error) => {
      unread = true;
      if (!this.#unread) this.#warn(`The audit trail cannot be read: ${error.message}`);
    });
    this.#unread = unread;
    const written = new Set(found.filter(({ writer }) => writer === this.#writer).map(({ seq }) => seq));
    const others = remembered.filter((entry) => isKept(entry) && !written.has(entry.seq) && wanted.fits(entry));
    return [...found, ...others.reverse()].sort((one, other) => later(other.at, one.at)).slice(0, most);
  }

  /** What is on disk, the newest first, from the day of this moment (in ms since the epoch) backwards. */
  async *backwards(from: number | undefined, signal: AbortSignal): AsyncGenerator<AuditEntry, void, void> {
    const lastDay = from === undefined ? undefined : new Date(from).toISOString().slice(0, 10);
    yield* recordsBackwards(this.#root, { lastDay }, signal, (error) => {
      if (!this.#unread) this.#warn(`The audit trail cannot be read: ${error.message}`);
      this.#unread = true;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.checks[Symbol.dispose]();
    if (this.#due !== undefined) this.vouch();
    this.#close();
  }

  /** Records on disk how far the trail goes. */
  vouch(): void {
    clearTimeout(this.#due);
    this.#due = undefined;
    const last = this.#last;
    if (last === undefined || this.#key === undefined) return;
    try {
      const head: TrailHead = { ...last, mac: macOf(last, this.#key) };
      writePrivate(join(headsOf(this.#root), `${this.#writer}.json`), JSON.stringify(head));
    } catch (error) {
      this.#complain(error);
    }
  }

  /** The file of the day stays open, because opening takes longer than writing; a removed file is created again. */
  #open(today: string): number {
    if (this.#file?.day === today && fstatSync(this.#file.fd).nlink > 0) return this.#file.fd;
    this.#close();
    const fd = openSync(join(this.#folder, `${today}.jsonl`), 'a+', 0o600);
    this.#file = { day: today, fd };
    return fd;
  }

  #close(): void {
    if (this.#file) closeSync(this.#file.fd);
    this.#file = undefined;
  }

  #begin(today: string): void {
    makeDirectorySync(this.#folder, 0o700);
    this.#day = today;
    const oldest = oldestKept(today);
    for (const name of readdirSync(this.#folder)) {
      const date = dayOf(name);
      if (date !== undefined && date < oldest) removeFileSync(join(this.#folder, name));
    }
    for (const [file, head] of readHeads(this.#root)) if (head !== undefined && head.day < oldest) removeFileSync(file);
  }
}

/** Allowed reads are not kept. */
const isKept = ({ access, allowed }: AuditEntry): boolean => access !== 'observe' || !allowed;

const later = (one: string, other: string): number => (one === other ? 0 : one > other ? 1 : -1);

export const auditTrail = serviceKey<AuditTrail>('audit trail');
