import { createHmac, randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { AuditEntry } from './audit.ts';
import { installationKey } from './installation-key.ts';
import { partKey } from './part.ts';
import { writePrivate } from './private-file.ts';

/** One line of the trail on disk. Each holds the hash of the one before it by the same writer (a hash chain). */
export interface TrailRecord extends AuditEntry {
  /** Which process wrote it, for its whole life. */
  readonly writer: string;
  /** How many its writer has written, this one included. Calls that are not kept do not count, as they do in `seq`. */
  readonly n: number;
  readonly prev: string;
  /** The day the one before it went to: that file may have been let go since. */
  readonly prevDay?: string;
  readonly hash: string;
}

/** The newest record of a writer, in a file of its own: without it nobody would miss the last lines. */
export interface TrailHead {
  readonly writer: string;
  readonly n: number;
  readonly hash: string;
  readonly day: string;
}

const keptDays = 14;
/** Replacing a file costs more than a call: what was cut off within this time of a crash is not missed. */
const vouchMs = 1000;
const day = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;

/**
 * What was changed, on disk: a file a day, for its owner only, kept for two weeks (R-RPC-035, 036). Whoever edits, moves or
 * takes out a line breaks the chain of its writer, and `verifyTrail` tells where. The hashes are keyed: who cannot read the
 * owner's key cannot make new ones.
 */
export class AuditTrail implements AsyncDisposable {
  readonly #root: string;
  readonly #folder: string;
  readonly #warn: (message: string) => void;
  readonly #writer = randomUUID();
  #key: Buffer | undefined;
  #last: TrailHead | undefined;
  #day = '';
  #file: { readonly day: string; readonly fd: number } | undefined;
  #broken = false;
  #due: NodeJS.Timeout | undefined;

  constructor(root: string, warn: (message: string) => void) {
    this.#root = root;
    this.#folder = join(root, 'audit');
    this.#warn = warn;
  }

  /** Reads that were allowed are not kept. */
  add(entry: AuditEntry): void {
    if (entry.access === 'observe' && entry.allowed) return;
    try {
      const today = entry.at.slice(0, 10);
      if (today !== this.#day) this.#begin(today);
      this.#key ??= installationKey(keyPath(this.#root));
      const last = this.#last;
      const before = last === undefined ? { n: 1, prev: '' } : { n: last.n + 1, prev: last.hash, prevDay: last.day };
      const body = JSON.stringify({ ...entry, writer: this.#writer, ...before });
      const hash = hashOf(body, this.#key);
      // At once and in order: a server that is killed has written what it did.
      writeSync(this.#open(today), `${body.slice(0, -1)},"hash":"${hash}"}\n`);
      this.#last = { writer: this.#writer, n: before.n, hash, day: today };
      if (before.n === 1) this.vouch();
      else this.#due ??= setTimeout(() => this.vouch(), vouchMs).unref();
      this.#broken = false;
    } catch (error) {
      if (!this.#broken) this.#warn(`The audit trail cannot be written: ${(error as Error).message}`);
      this.#broken = true;
    }
  }

  /** The newest records that are wanted, newest first, at most so many. */
  newest(wanted: (record: TrailRecord) => boolean, most: number): TrailRecord[] {
    const found: TrailRecord[] = [];
    for (const file of filesOf(this.#folder).reverse()) {
      for (const line of linesOf(file).reverse()) {
        const record = parse(line);
        if (record !== undefined && wanted(record)) found.push(record);
        if (found.length >= most) return found;
      }
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#due !== undefined) this.vouch();
    this.#close();
  }

  /** Says on disk how far the trail goes. */
  vouch(): void {
    clearTimeout(this.#due);
    this.#due = undefined;
    try {
      writePrivate(join(headsOf(this.#root), `${this.#writer}.json`), JSON.stringify(this.#last));
    } catch (error) {
      this.#warn(`The audit trail cannot be written: ${(error as Error).message}`);
    }
  }

  /** The file of the day stays open, for opening it takes longer than writing; one that was taken away is made anew. */
  #open(today: string): number {
    if (this.#file?.day === today && fstatSync(this.#file.fd).nlink > 0) return this.#file.fd;
    this.#close();
    const fd = openSync(join(this.#folder, `${today}.jsonl`), 'a', 0o600);
    this.#file = { day: today, fd };
    return fd;
  }

  #close(): void {
    if (this.#file) closeSync(this.#file.fd);
    this.#file = undefined;
  }

  #begin(today: string): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#day = today;
    const oldest = oldestKept(today);
    for (const name of readdirSync(this.#folder)) {
      const date = day.exec(name)?.[1];
      if (date !== undefined && date < oldest) rmSync(join(this.#folder, name));
    }
    for (const [file, head] of readHeads(this.#root)) if (head !== undefined && head.day < oldest) rmSync(file);
  }
}

export const auditTrail = partKey<AuditTrail>('audit trail');

export const keyPath = (root: string): string => join(root, 'audit.key');
const headsOf = (root: string): string => join(root, 'audit', 'heads');

/** Files of days before this one are let go. */
export const oldestKept = (today: string): string =>
  new Date(Date.parse(today) - keptDays * 86_400_000).toISOString().slice(0, 10);

/** Every head there is by its file; undefined for one that nobody can read. */
export function readHeads(root: string): Map<string, TrailHead | undefined> {
  const folder = headsOf(root);
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return new Map(
    names.map((name) => [join(folder, name), parse(readFileSync(join(folder, name), 'utf8')) as TrailHead | undefined]),
  );
}

/** One a day, oldest first. */
export function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => day.test(name))
    .sort()
    .map((name) => join(folder, name));
}

export const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

export function parse(line: string): TrailRecord | undefined {
  try {
    const value = JSON.parse(line) as TrailRecord;
    return typeof value.hash === 'string' && typeof value.writer === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Of the line as it stands without its hash, so that a field nobody knows yet counts too. */
export const hashOf = (body: string, key: Buffer): string => createHmac('sha256', key).update(body).digest('hex');
