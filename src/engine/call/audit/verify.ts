import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import {
  dayOf,
  trailFiles,
  gapOperation,
  isAsWritten,
  keyPath,
  macOf,
  oldestKept,
  parseTrailRecord,
  readHeads,
  type TrailHead,
  type TrailRecord,
} from './records.ts';
import { existingKey } from '../../../system/installation-key.ts';

interface TrailFault {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

/** A fault with the records on both sides of it, as far as they can be read. */
interface TrailBreak extends TrailFault {
  readonly record?: TrailRecord;
  /** The one before it by the same writer. */
  readonly before?: TrailRecord;
}

interface TrailCheck<Fault = TrailFault> {
  readonly records: number;
  readonly writers: number;
  /** Where a chain is broken: the file, the line, and what is wrong with it. */
  readonly faults: readonly Fault[];
  /** Gaps that a server recorded itself: no tampering, but unknown calls. */
  readonly gaps: readonly TrailFault[];
}

export type CheckedTrail = TrailCheck<TrailBreak> & {
  /** The newest record of each writer that was found. */
  readonly ends: ReadonlyMap<string, number>;
};

/** The newest record of a writer that was found, and where. */
interface End {
  readonly hash: string;
  readonly n: number;
  readonly format: number;
  readonly file: string;
  readonly line: number;
  readonly record: TrailRecord;
}

/** Reads the whole trail and checks every chain in it, from its first record to the newest that its writer vouches for. */
export function verifyTrail(root: string, now = new Date()): TrailCheck {
  const steps = check(root, now);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      const { records, writers, gaps } = value;
      return { records, writers, faults: value.faults.map(({ file, line, reason }) => ({ file, line, reason })), gaps };
    }
  }
}

/** The same for a server, which has other things to do in between. */
export async function checkTrail(root: string, signal: AbortSignal, now = new Date()): Promise<CheckedTrail> {
  const steps = check(root, now);
  for (;;) {
    signal.throwIfAborted();
    const { done, value } = steps.next();
    if (done === true) return value;
    await setImmediate();
  }
}

/** Records of a step: about 5 ms. */
const stepRecords = 500;

function* check(root: string, now: Date): Generator<void, CheckedTrail, void> {
  const ends = new Map<string, End>();
  const faults: TrailBreak[] = [];
  const gaps: TrailFault[] = [];
  const oldest = oldestKept(now.toISOString().slice(0, 10));
  const files = trailFiles(root);
  // Heads are read before records, so a server that keeps writing is never behind its head.
  const heads = readHeads(root);
  const key = existingKey(keyPath(root));
  if (key === undefined && files.length + heads.size > 0) {
    faults.push({ file: keyPath(root), line: 1, reason: 'the key is missing: no record can be checked' });
  }
  let records = 0;
  for (const file of files) {
    for (const [at, bytes] of linesOf(readFileSync(file)).entries()) {
      records += 1;
      if (records % stepRecords === 0) yield;
      const line = at + 1;
      const record = parseTrailRecord<TrailRecord>(bytes.toString('utf8'));
      const reason =
        record === undefined
          ? notARecord(bytes)
          : (touched(record, bytes, file, key) ?? unchained(record, ends.get(record.writer), oldest));
      const before = record && ends.get(record.writer)?.record;
      if (reason !== undefined)
        faults.push({ file, line, reason, ...(record && { record }), ...(before && { before }) });
      if (record === undefined) continue;
      if (record.operation === gapOperation) gaps.push({ file, line, reason: record.detail ?? '' });
      ends.set(record.writer, { hash: record.hash, n: record.n, format: record.format ?? 1, file, line, record });
    }
  }
  faults.push(...cutOff(heads, ends, key, oldest));
  return {
    records,
    writers: ends.size,
    faults,
    gaps,
    ends: new Map([...ends].map(([writer, { n }]) => [writer, n])),
  };
}

/** Each with its line break, which a line that was cut short has not. */
function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const at = bytes.indexOf('\n', from);
    const end = at === -1 ? bytes.length : at + 1;
    lines.push(bytes.subarray(from, end));
    from = end;
  }
  return lines;
}

const notARecord = (bytes: Buffer): string => (bytes.length === 1 ? 'an empty line was put in' : 'it is not a record');

function touched(record: TrailRecord, bytes: Buffer, file: string, key: Buffer | undefined): string | undefined {
  if (key !== undefined && !isAsWritten(bytes, record, key)) return 'it was changed after it was written';
  return record.at.slice(0, 10) === dayOf(file) ? undefined : 'it is in the file of another day';
}

function unchained({ n, prev, prevDay }: TrailRecord, before: End | undefined, oldest: string): string | undefined {
  if (before !== undefined) {
    return prev === before.hash && n === before.n + 1 ? undefined : 'a record before it is missing or was moved';
  }
  // The records before it may have expired with their day.
  const first = n === 1 || (prevDay !== undefined && prevDay < oldest);
  return first ? undefined : `${n - 1} records before it are missing`;
}

/** A head behind its chain means a killed server; a head ahead of it means lines were cut off. */
function cutOff(
  heads: ReturnType<typeof readHeads>,
  ends: ReadonlyMap<string, End>,
  key: Buffer | undefined,
  oldest: string,
): readonly TrailBreak[] {
  const faults: TrailBreak[] = [];
  const vouched = new Set<string>();
  for (const [file, head] of heads) {
    if (head === undefined) {
      faults.push({ file, line: 1, reason: 'it cannot be read' });
      continue;
    }
    const end = ends.get(head.writer);
    if (key !== undefined && !isVouched(head, end, key)) {
      faults.push({ file, line: 1, reason: 'it was changed after it was written' });
      continue;
    }
    vouched.add(head.writer);
    if (end === undefined && head.day >= oldest) {
      faults.push({ file, line: 1, reason: 'every record of this server is missing' });
    }
    if (end === undefined || end.n > head.n) continue;
    const missing = head.n - end.n;
    if (missing > 0) faults.push({ ...place(end), reason: `${missing} records after it are missing` });
    else if (end.hash !== head.hash) faults.push({ ...place(end), reason: 'it is not what its server wrote last' });
  }
  for (const [writer, end] of ends) {
    if (!vouched.has(writer)) faults.push({ ...place(end), reason: 'nothing says that it is the last of its server' });
  }
  return faults;
}

/** Heads older than keyed heads are accepted as they are. */
const isVouched = (head: TrailHead, end: End | undefined, key: Buffer): boolean =>
  head.mac === undefined ? end === undefined || end.format < 2 : head.mac === macOf(head, key);

const place = ({ file, line, record }: End): Omit<TrailBreak, 'reason'> => ({ file, line, before: record });
