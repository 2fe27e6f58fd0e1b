import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditEntry } from './audit.ts';
import { partKey } from './part.ts';

/** One line of the trail on disk. Each holds the hash of the one before it by the same writer (a hash chain). */
export interface TrailRecord extends AuditEntry {
  /** Which process wrote it, for its whole life. */
  readonly writer: string;
  readonly prev: string;
  readonly hash: string;
}

const keptDays = 14;
const day = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;

/**
 * What was changed, on disk: a file a day, for its owner only, kept for two weeks (R-RPC-035, 036). Whoever edits, moves or
 * takes out a line breaks the chain of its writer, and `verifyTrail` tells where.
 */
export class AuditTrail implements AsyncDisposable {
  readonly #folder: string;
  readonly #warn: (message: string) => void;
  readonly #writer = randomUUID();
  #prev = '';
  #day = '';
  #broken = false;

  constructor(root: string, warn: (message: string) => void) {
    this.#folder = join(root, 'audit');
    this.#warn = warn;
  }

  /** Reads that were allowed are not kept. */
  add(entry: AuditEntry): void {
    if (entry.access === 'observe' && entry.allowed) return;
    const body = { ...entry, writer: this.#writer, prev: this.#prev };
    const hash = hashOf(body);
    try {
      const today = entry.at.slice(0, 10);
      if (today !== this.#day) this.#begin(today);
      // At once and in order: a server that is killed has written what it did.
      appendFileSync(join(this.#folder, `${today}.jsonl`), `${JSON.stringify({ ...body, hash })}\n`, { mode: 0o600 });
      this.#prev = hash;
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

  async [Symbol.asyncDispose](): Promise<void> {}

  #begin(today: string): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#day = today;
    const oldest = new Date(Date.parse(today) - keptDays * 86_400_000).toISOString().slice(0, 10);
    for (const name of readdirSync(this.#folder)) {
      const date = day.exec(name)?.[1];
      if (date !== undefined && date < oldest) rmSync(join(this.#folder, name));
    }
  }
}

export const auditTrail = partKey<AuditTrail>('audit trail');

export interface TrailCheck {
  readonly records: number;
  readonly writers: number;
  /** Where a chain is broken: the file, the line, and what is wrong with it. */
  readonly faults: readonly { readonly file: string; readonly line: number; readonly reason: string }[];
}

/** Reads the whole trail and checks every chain in it. A chain may begin anywhere: older days are deleted after a while. */
export function verifyTrail(root: string): TrailCheck {
  const ends = new Map<string, { readonly hash: string; readonly seq: number }>();
  const faults: { file: string; line: number; reason: string }[] = [];
  let records = 0;
  for (const file of filesOf(join(root, 'audit'))) {
    for (const [at, line] of linesOf(file).entries()) {
      records += 1;
      const fault = (reason: string): void => void faults.push({ file, line: at + 1, reason });
      const record = parse(line);
      if (record === undefined) {
        fault('it is not a record');
        continue;
      }
      const { hash, ...body } = record;
      const before = ends.get(record.writer);
      if (hashOf(body) !== hash) fault('it was changed after it was written');
      else if (before !== undefined && record.prev !== before.hash) fault('a record before it is missing or was moved');
      ends.set(record.writer, { hash, seq: record.seq });
    }
  }
  return { records, writers: ends.size, faults };
}

/** One a day, oldest first. */
function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => day.test(name))
    .sort()
    .map((name) => join(folder, name));
}

const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

function parse(line: string): TrailRecord | undefined {
  try {
    const value = JSON.parse(line) as TrailRecord;
    return typeof value.hash === 'string' && typeof value.writer === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Of the line as it stands, so that a field nobody knows yet counts too. */
const hashOf = (body: object): string => createHash('sha256').update(JSON.stringify(body)).digest('hex');
