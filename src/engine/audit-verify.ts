import { join } from 'node:path';
import { filesOf, hashOf, keyPath, linesOf, oldestKept, parse, readHeads, type TrailRecord } from './audit-trail.ts';
import { existingKey } from './installation-key.ts';

export interface TrailFault {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

export interface TrailCheck {
  readonly records: number;
  readonly writers: number;
  /** Where a chain is broken: the file, the line, and what is wrong with it. */
  readonly faults: readonly TrailFault[];
}

/** The newest record of a writer that was found, and where. */
interface End {
  readonly hash: string;
  readonly n: number;
  readonly file: string;
  readonly line: number;
}

/** Reads the whole trail and checks every chain in it, from its first record to the newest that its writer vouches for. */
export function verifyTrail(root: string, now = new Date()): TrailCheck {
  const ends = new Map<string, End>();
  const faults: TrailFault[] = [];
  const oldest = oldestKept(now.toISOString().slice(0, 10));
  const files = filesOf(join(root, 'audit'));
  const heads = readHeads(root);
  const key = existingKey(keyPath(root));
  if (key === undefined && files.length + heads.size > 0) {
    faults.push({ file: keyPath(root), line: 1, reason: 'the key is missing: no record can be checked' });
  }
  let records = 0;
  for (const file of files) {
    for (const [at, text] of linesOf(file).entries()) {
      records += 1;
      const line = at + 1;
      const record = parse(text);
      const reason =
        record === undefined ? 'it is not a record' : faultOf(record, ends.get(record.writer), key, oldest);
      if (reason !== undefined) faults.push({ file, line, reason });
      if (record !== undefined) ends.set(record.writer, { hash: record.hash, n: record.n, file, line });
    }
  }
  faults.push(...cutOff(heads, ends, oldest));
  return { records, writers: ends.size, faults };
}

function faultOf(
  { hash, ...body }: TrailRecord,
  before: End | undefined,
  key: Buffer | undefined,
  oldest: string,
): string | undefined {
  if (key !== undefined && hashOf(JSON.stringify(body), key) !== hash) return 'it was changed after it was written';
  const { n, prev, prevDay } = body;
  if (before !== undefined) {
    return prev === before.hash && n === before.n + 1 ? undefined : 'a record before it is missing or was moved';
  }
  // What came before it may have been let go with its day.
  const first = n === 1 || (prevDay !== undefined && prevDay < oldest);
  return first ? undefined : `${n - 1} records before it are missing`;
}

/** A head behind its chain is of a server that was killed in between; one ahead of it misses what was cut off. */
function cutOff(
  heads: ReturnType<typeof readHeads>,
  ends: ReadonlyMap<string, End>,
  oldest: string,
): readonly TrailFault[] {
  const faults: TrailFault[] = [];
  const vouched = new Set<string>();
  for (const [file, head] of heads) {
    if (head === undefined) {
      faults.push({ file, line: 1, reason: 'it cannot be read' });
      continue;
    }
    vouched.add(head.writer);
    const end = ends.get(head.writer);
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

const place = ({ file, line }: End): Pick<TrailFault, 'file' | 'line'> => ({ file, line });
