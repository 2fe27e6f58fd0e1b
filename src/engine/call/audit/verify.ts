import { readFileSync } from 'node:fs';
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

interface TrailCheck {
  readonly records: number;
  readonly writers: number;
  /** Where a chain is broken: the file, the line, and what is wrong with it. */
  readonly faults: readonly TrailFault[];
  /** Gaps that a server recorded itself: no tampering, but unknown calls. */
  readonly gaps: readonly TrailFault[];
}

/** The newest record of a writer that was found, and where. */
interface End {
  readonly hash: string;
  readonly n: number;
  readonly format: number;
  readonly file: string;
  readonly line: number;
}

/** Reads the whole trail and checks every chain in it, from its first record to the newest that its writer vouches for. */
export function verifyTrail(root: string, now = new Date()): TrailCheck {
  const ends = new Map<string, End>();
  const faults: TrailFault[] = [];
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
      const line = at + 1;
      const record = parseTrailRecord<TrailRecord>(bytes.toString('utf8'));
      const reason =
        record === undefined
          ? notARecord(bytes)
          : (touched(record, bytes, file, key) ?? unchained(record, ends.get(record.writer), oldest));
      if (reason !== undefined) faults.push({ file, line, reason });
      if (record === undefined) continue;
      if (record.operation === gapOperation) gaps.push({ file, line, reason: record.detail ?? '' });
      ends.set(record.writer, { hash: record.hash, n: record.n, format: record.format ?? 1, file, line });
    }
  }
  faults.push(...cutOff(heads, ends, key, oldest));
  return { records, writers: ends.size, faults, gaps };
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
): readonly TrailFault[] {
  const faults: TrailFault[] = [];
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

const place = ({ file, line }: End): Pick<TrailFault, 'file' | 'line'> => ({ file, line });
