import { createHmac } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { AuditEntry } from './audit.ts';
import { AuditTrail } from './trail.ts';
import { verifyTrail } from './verify.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

const now = new Date('2026-05-20T12:00:00Z');
const daysAgo = (days: number): string => new Date(now.getTime() - days * 86_400_000).toISOString();

function entry(seq: number, at = now.toISOString(), access: AuditEntry['access'] = 'control'): AuditEntry {
  const rest = { terminal: '0', allowed: true, error: undefined, durationMs: 1 };
  return { seq, at, operation: 'exec.run', access, caller: 'test', origin: 'rpc', ...rest };
}

function trailOf(...ats: readonly string[]): { root: string; trail: AuditTrail; file: (at?: string) => string } {
  const root = mkdtempSync(join(tmpdir(), 'fairlead-trail-'));
  roots.push(root);
  const trail = new AuditTrail(root, (message) => expect.fail(message));
  for (const [at, time] of ats.entries()) {
    // A read between two changes is not kept, and nobody misses it.
    trail.add(entry(2 * at + 1, time, 'observe'));
    trail.add(entry(2 * at + 2, time));
  }
  trail.vouch();
  return { root, trail, file: (at = now.toISOString()) => join(root, 'audit', `${at.slice(0, 10)}.jsonl`) };
}

const today = now.toISOString();
const edit = (file: string, change: (lines: string[]) => string[]): void => {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const kept = change(lines).map((line) => `${line}\n`);
  writeFileSync(file, kept.join(''));
};
const changed = 'it was changed after it was written';
const headIn = (root: string): string => {
  const folder = join(root, 'audit', 'heads');
  return join(folder, readdirSync(folder)[0] ?? '');
};
const reasons = (root: string): string[] => verifyTrail(root, now).faults.map(({ reason }) => reason);

test('a whole trail has no faults, and reads that were not kept are not missed (R-RPC-036)', () => {
  const { root } = trailOf(daysAgo(2), daysAgo(1), today, today);
  expect(verifyTrail(root, now)).toEqual({ records: 4, writers: 1, faults: [], gaps: [] });
  for (const file of ['audit.key', join('audit', 'heads', readdirSync(join(root, 'audit', 'heads'))[0] ?? '')]) {
    expect(statSync(join(root, file)).mode & 0o777, file).toBe(0o600);
  }
});

test.each([
  ['the first lines', (lines: string[]) => lines.slice(2), ['2 records before it are missing']],
  ['a line in the middle', (lines: string[]) => lines.toSpliced(1, 1), ['a record before it is missing or was moved']],
  ['the last lines', (lines: string[]) => lines.slice(0, -2), ['2 records after it are missing']],
  ['every line', () => [], ['every record of this server is missing']],
  [
    'a word',
    (lines: string[]) => lines.map((line, at) => (at === 1 ? line.replace('exec.run', 'exec.cancel') : line)),
    ['it was changed after it was written'],
  ],
] as const)('taking out or changing %s shows', (_what, change, expected) => {
  const { root, file } = trailOf(today, today, today, today);
  edit(file(), change);
  expect(reasons(root)).toEqual(expected);
});

test('a day that is gone shows, until it is old enough to be let go', () => {
  const { root, file } = trailOf(daysAgo(13), daysAgo(1));
  rmSync(file(daysAgo(13)));
  expect(reasons(root)).toEqual(['1 records before it are missing']);
  expect(verifyTrail(root, new Date(now.getTime() + 3 * 86_400_000)).faults).toEqual([]);
});

test('days and heads older than two weeks are let go without a fault', () => {
  const { root } = trailOf(daysAgo(20), daysAgo(1), today);
  expect(verifyTrail(root, now)).toMatchObject({ records: 2, faults: [], gaps: [] });
  const later = daysAgo(-20);
  new AuditTrail(root, (message) => expect.fail(message)).add(entry(1, later));
  expect(verifyTrail(root, new Date(later))).toMatchObject({ records: 1, writers: 1, faults: [], gaps: [] });
});

test('hashes are keyed: who rewrites a line and its hash without the key is found out', () => {
  const { root, file } = trailOf(today);
  const { root: other, file: otherFile } = trailOf(today);
  const [head = ''] = readdirSync(join(other, 'audit', 'heads'));
  writeFileSync(file(), readFileSync(otherFile()));
  for (const name of readdirSync(join(root, 'audit', 'heads'))) rmSync(join(root, 'audit', 'heads', name));
  writeFileSync(join(root, 'audit', 'heads', head), readFileSync(join(other, 'audit', 'heads', head)));
  expect(reasons(root)).toEqual([changed, changed, 'nothing says that it is the last of its server']);
});

test('a missing key or head is a fault, a head that is one behind is not', () => {
  const { root, trail } = trailOf(today, today);
  // A server that was killed before it could vouch for its newest.
  trail.add(entry(9));
  expect(reasons(root)).toEqual([]);
  rmSync(headIn(root));
  expect(reasons(root)).toEqual(['nothing says that it is the last of its server']);
  rmSync(join(root, 'audit.key'));
  expect(reasons(root)).toContain('the key is missing: no record can be checked');
});

test.each([1, 3])(
  'taking out the last %i lines and turning the head back shows, with the mac of before or none',
  (cut) => {
    for (const kept of [{ mac: true }, { mac: false }]) {
      const { root, file } = trailOf(today, today, today, today);
      edit(file(), (lines) => lines.slice(0, -cut));
      const last = JSON.parse(readFileSync(file(), 'utf8').trimEnd().split('\n').at(-1) ?? '') as Record<
        string,
        unknown
      >;
      const head = JSON.parse(readFileSync(headIn(root), 'utf8')) as { day: string; mac: string };
      const { writer, n, hash } = last;
      const back = { writer, n, hash, day: head.day, ...(kept.mac ? { mac: head.mac } : {}) };
      writeFileSync(headIn(root), JSON.stringify(back));
      expect(reasons(root)).toEqual([
        'it was changed after it was written',
        'nothing says that it is the last of its server',
      ]);
    }
  },
);

test.each([
  ['a field twice', (text: string) => text.replace('{', '{"operation":"evil.op",'), [changed]],
  ['a blank in a line', (text: string) => text.replace('"seq":', '"seq": '), [changed]],
  ['a blank after a line', (text: string) => text.replace('\n', ' \n'), [changed]],
  ['a line break of another kind', (text: string) => text.replace('\n', '\r\n'), [changed]],
  ['an escape for a letter', (text: string) => text.replace('exec.run', 'exec\\u002erun'), [changed]],
  ['the last line break', (text: string) => text.trimEnd(), [changed]],
  ['an empty line', (text: string) => text.replace('\n', '\n\n'), ['an empty line was put in']],
  ['an empty line at the end', (text: string) => `${text}\n`, ['an empty line was put in']],
] as const)('what JSON does not tell apart shows: %s', (_what, change, expected) => {
  const { root, file } = trailOf(today, today);
  writeFileSync(file(), change(readFileSync(file(), 'utf8')));
  expect(reasons(root)).toEqual(expected);
});

test("a day's file under the name of another day shows", () => {
  const { root, file } = trailOf(daysAgo(1));
  renameSync(file(daysAgo(1)), file(daysAgo(3)));
  expect(reasons(root)).toEqual(['it is in the file of another day']);
});

test('a trail of before heads were keyed is still whole, and edits of it are still found', () => {
  const root = mkdtempSync(join(tmpdir(), 'fairlead-trail-'));
  roots.push(root);
  const key = Buffer.alloc(32, 7);
  mkdirSync(join(root, 'audit', 'heads'), { recursive: true });
  writeFileSync(join(root, 'audit.key'), key);
  const file = join(root, 'audit', `${today.slice(0, 10)}.jsonl`);
  let before = { n: 0, hash: '' };
  for (const n of [1, 2]) {
    const body = JSON.stringify({ ...entry(n), writer: 'old', n, prev: before.hash });
    const hash = createHmac('sha256', key).update(body).digest('hex');
    writeFileSync(file, `${body.slice(0, -1)},"hash":"${hash}"}\n`, { flag: 'a' });
    before = { n, hash };
  }
  const head = { writer: 'old', ...before, day: today.slice(0, 10) };
  writeFileSync(join(root, 'audit', 'heads', 'old.json'), JSON.stringify(head));
  expect(verifyTrail(root, now)).toEqual({ records: 2, writers: 1, faults: [], gaps: [] });
  edit(file, (lines) => lines.slice(0, -1));
  expect(reasons(root)).toEqual(['1 records after it are missing']);
});
