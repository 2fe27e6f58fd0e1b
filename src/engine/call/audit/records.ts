import { createHmac } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { AuditEntry } from './audit.ts';

/** Heads are keyed since version 2. Older records have no version, and their heads are accepted unkeyed. */
export const trailFormat = 2;

/** One line of the trail on disk. Each holds the hash of the one before it by the same writer (a hash chain). */
export interface TrailRecord extends AuditEntry {
  readonly format?: number;
  /** The process that wrote it. */
  readonly writer: string;
  /** Number of records by its writer, this one included. Unlike `seq` it does not count calls that are not kept. */
  readonly n: number;
  readonly prev: string;
  /** Day of the previous record, whose file may have expired. */
  readonly prevDay?: string;
  readonly hash: string;
}

/** The newest record of a writer, in its own file: without it, removed last lines would go unnoticed. */
export interface TrailHead {
  readonly writer: string;
  readonly n: number;
  readonly hash: string;
  readonly day: string;
  /** Keyed: otherwise an attacker could cut off the last lines and rewrite this file to match. */
  readonly mac?: string;
}

/** Marks a place where records could not be written, so that the gap is not taken for tampering. */
export const gapOperation = 'audit.gap';

export const lostEntries = (at: string, lost: number): AuditEntry => ({
  seq: 0,
  at,
  operation: gapOperation,
  access: 'administer',
  caller: 'fairlead',
  origin: 'cli',
  terminal: undefined,
  allowed: true,
  error: 'unavailable',
  durationMs: 0,
  detail: `${lost} ${lost === 1 ? 'record' : 'records'} could not be written before this one`,
});

const keptDays = 14;
const day = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;

export const keyPath = (root: string): string => join(root, 'audit.key');
export const folderOf = (root: string): string => join(root, 'audit');
export const headsOf = (root: string): string => join(root, 'audit', 'heads');

/** The day whose records a file holds; undefined for a file that is no part of the trail. */
export const dayOf = (file: string): string | undefined => day.exec(basename(file))?.[1];

/** Files of earlier days are removed. */
export const oldestKept = (today: string): string =>
  new Date(Date.parse(today) - keptDays * 86_400_000).toISOString().slice(0, 10);

/** One a day, oldest first. */
export function trailFiles(root: string): string[] {
  const folder = folderOf(root);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => dayOf(name) !== undefined)
    .sort()
    .map((name) => join(folder, name));
}

/** All heads by file; undefined for an unreadable one. */
export function readHeads(root: string): Map<string, TrailHead | undefined> {
  const folder = headsOf(root);
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return new Map(
    names.map((name) => [join(folder, name), parseTrailRecord<TrailHead>(readFileSync(join(folder, name), 'utf8'))]),
  );
}

export function parseTrailRecord<T extends TrailHead | TrailRecord>(text: string): T | undefined {
  try {
    const value = JSON.parse(text) as T;
    return typeof value.hash === 'string' && typeof value.writer === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

const tailOf = (hash: string): string => `,"hash":"${hash}"}\n`;
const tailLength = tailOf('0'.repeat(64)).length;

export function recordLine(body: string, key: Buffer): { readonly line: string; readonly hash: string } {
  const hash = keyed(body, key);
  return { line: body.slice(0, -1) + tailOf(hash), hash };
}

/** Whether a line is byte for byte as written: differences that JSON parsing hides (blanks, a repeated field) count too. */
export function isAsWritten(line: Buffer, { hash }: TrailRecord, key: Buffer): boolean {
  const end = Math.max(0, line.length - tailLength);
  if (line.toString('utf8', end) !== tailOf(hash)) return false;
  return keyed(Buffer.concat([line.subarray(0, end), Buffer.from('}')]), key) === hash;
}

/** No record begins like this, so a record's hash can never authenticate a head. */
export const macOf = ({ writer, n, hash, day: date }: TrailHead, key: Buffer): string =>
  keyed(`head ${JSON.stringify([writer, n, hash, date])}`, key);

const keyed = (bytes: string | Buffer, key: Buffer): string => createHmac('sha256', key).update(bytes).digest('hex');
