import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { AuditEntry } from './audit.ts';
import { AuditTrail } from './trail.ts';
import { verifyTrail } from './verify.ts';

const made: string[] = [];
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});
const root = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'fairlead-audit-'));
  made.push(path);
  return path;
};

const entry = (seq: number, change: Partial<AuditEntry> = {}): AuditEntry => ({
  seq,
  at: '2026-03-01T10:00:00.000Z',
  operation: 'exec.run',
  access: 'control',
  caller: 'test',
  origin: 'rpc',
  terminal: '0',
  allowed: true,
  error: undefined,
  durationMs: 1,
  ...change,
});

/** A trail of five records by one writer and, in between, three by another. */
function written(): { path: string; file: string; lines: string[] } {
  const path = root();
  const [one, two] = [new AuditTrail(path, expect.unreachable), new AuditTrail(path, expect.unreachable)];
  for (const seq of [1, 2, 3, 4, 5]) {
    one.add(entry(seq, { detail: `command ${seq}` }));
    if (seq < 4) two.add(entry(seq));
  }
  const file = join(path, 'audit', '2026-03-01.jsonl');
  return { path, file, lines: readFileSync(file, 'utf8').trimEnd().split('\n') };
}

test('reads leave no trace, refused ones and changes do; the file is private (R-RPC-035, R-RPC-036)', async () => {
  const path = root();
  const trail = new AuditTrail(path, expect.unreachable);
  trail.add(entry(1, { access: 'observe' }));
  const newest = async (fits: (record: AuditEntry) => boolean, most: number) =>
    (await trail.newest({ fits }, [], most, new AbortController().signal)).map(({ seq }) => seq);
  expect(await newest(() => true, 10)).toEqual([]);
  trail.add(entry(2, { access: 'observe', allowed: false, error: 'not_permitted' }));
  trail.add(entry(3));
  expect(await newest(() => true, 10)).toEqual([3, 2]);
  expect(await newest(({ seq }) => seq < 3, 10)).toEqual([2]);
  expect(await newest(() => true, 1)).toEqual([3]);
  expect(statSync(join(path, 'audit', '2026-03-01.jsonl')).mode & 0o777).toBe(0o600);
});

test('what is remembered and what is on disk are one list, each entry once (R-RPC-036)', async () => {
  const path = root();
  const at = (minute: number): string => `2026-03-01T10:0${minute}:00.000Z`;
  new AuditTrail(path, expect.unreachable).add(entry(1, { at: at(0), caller: 'before' }));
  const warnings: string[] = [];
  const trail = new AuditTrail(path, (text) => warnings.push(text));
  const remembered = [1, 2, 3, 4].map((seq) => entry(seq, { at: at(seq) }));
  remembered.push(entry(5, { at: at(5), access: 'observe' }));
  for (const one of remembered.slice(0, 2)) trail.add(one);
  const newest = async (most: number) =>
    (await trail.newest({ fits: ({ seq }) => seq !== 3 }, remembered, most, new AbortController().signal)).map(
      ({ seq, caller }) => `${seq} ${caller}`,
    );
  // 3 is not wanted, and of 4 nothing was written; 1 is of two servers.
  expect(await newest(9)).toEqual(['4 test', '2 test', '1 test', '1 before']);
  expect(await newest(2)).toEqual(['4 test', '2 test']);
  rmSync(join(path, 'audit'), { recursive: true });
  writeFileSync(join(path, 'audit'), 'in the way');
  expect(await newest(9)).toEqual(['4 test', '2 test', '1 test']);
  expect(await newest(9)).toHaveLength(3);
  expect(warnings).toEqual([expect.stringContaining('cannot be read: ENOTDIR')]);
});

test('an untouched trail is whole, over several days and writers', () => {
  const { path } = written();
  new AuditTrail(path, expect.unreachable).add(entry(9, { at: '2026-03-02T00:00:00.000Z' }));
  expect(verifyTrail(path)).toEqual({ records: 9, writers: 3, faults: [], gaps: [] });
});

test('an edit, a removal and a swap are found, and where', () => {
  const edits: [string, (lines: string[]) => string[], number][] = [
    ['it was changed after it was written', (lines) => lines.map((line) => line.replace('command 3', 'command x')), 5],
    ['a record before it is missing or was moved', (lines) => lines.toSpliced(2, 1), 4],
    ['it is not a record', (lines) => lines.toSpliced(1, 1, 'gone'), 2],
  ];
  for (const [reason, edit, line] of edits) {
    const { path, file, lines } = written();
    writeFileSync(file, `${edit(lines).join('\n')}\n`);
    expect(verifyTrail(path).faults).toContainEqual({ file, line, reason });
  }
});

test('days older than two weeks are let go', () => {
  const path = root();
  const trail = new AuditTrail(path, expect.unreachable);
  for (const date of ['2026-03-01', '2026-03-14', '2026-03-16']) trail.add(entry(1, { at: `${date}T00:00:00.000Z` }));
  const days = readdirSync(join(path, 'audit')).filter((name) => name !== 'heads');
  expect(days.sort()).toEqual(['2026-03-14.jsonl', '2026-03-16.jsonl']);
});

test('a disk that cannot be written to is told once', () => {
  const path = root();
  writeFileSync(join(path, 'audit'), 'in the way');
  const warnings: string[] = [];
  const trail = new AuditTrail(path, (text) => warnings.push(text));
  trail.add(entry(1));
  trail.add(entry(2));
  expect(warnings).toHaveLength(1);
});

test('a full disk: no half line stays, the gap is recorded, and the trail verifies', () => {
  const path = root();
  const warnings: string[] = [];
  let room = Number.POSITIVE_INFINITY;
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const trail = new AuditTrail(
    path,
    (text) => warnings.push(text),
    (fd, bytes) => {
      if (room === 0) throw full;
      const taken = writeSync(fd, bytes.subarray(0, room));
      room -= taken;
      return taken;
    },
  );
  const other = new AuditTrail(path, expect.unreachable);
  trail.add(entry(1));
  room = 40;
  for (const seq of [2, 3]) trail.add(entry(seq));
  other.add(entry(1));
  room = 0;
  trail.add(entry(4));
  expect(warnings).toEqual(['The audit trail cannot be written: the disk is full']);
  room = Number.POSITIVE_INFINITY;
  trail.add(entry(5));
  const file = join(path, 'audit', '2026-03-01.jsonl');
  const operations = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as AuditEntry).operation);
  expect(operations).toEqual(['exec.run', 'exec.run', 'audit.gap', 'exec.run']);
  expect(verifyTrail(path)).toEqual({
    records: 4,
    writers: 2,
    faults: [],
    gaps: [{ file, line: 3, reason: '3 records could not be written before this one' }],
  });
});

test('what a second process wrote behind a half line is not cut off with it', () => {
  const path = root();
  const trail = new AuditTrail(
    path,
    () => {},
    (fd, bytes) => {
      writeSync(fd, bytes.subarray(0, 30));
      writeSync(fd, 'of another process\n');
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    },
  );
  trail.add(entry(1));
  expect(readFileSync(join(path, 'audit', '2026-03-01.jsonl'), 'utf8')).toMatch(/of another process\n$/);
});
