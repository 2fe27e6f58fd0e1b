import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { AuditEntry } from './audit.ts';
import { recordId, type TrailQuery } from './pages.ts';
import { AuditTrail } from './trail.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

const { signal } = new AbortController();
const now = new Date('2026-05-20T12:00:00Z');
const daysAgo = (days: number): string => new Date(now.getTime() - days * 86_400_000).toISOString();
const entry = (seq: number, at: string): AuditEntry => ({
  seq,
  at,
  operation: seq % 2 === 0 ? 'exec.run' : 'policy.set',
  access: 'control',
  caller: 'test',
  origin: 'rpc',
  terminal: undefined,
  allowed: true,
  error: undefined,
  durationMs: 1,
});

/** A trail of 25 records over three days. */
function trailOf(): { trail: AuditTrail; root: string } {
  const root = mkdtempSync(join(tmpdir(), 'fairlead-pages-'));
  roots.push(root);
  const trail = new AuditTrail(root, (message) => expect.fail(message));
  for (let seq = 1; seq <= 25; seq++) trail.add(entry(seq, daysAgo(seq <= 10 ? 2 : seq <= 12 ? 1 : 0)));
  trail.vouch();
  return { trail, root };
}
const all: Pick<TrailQuery, 'fits'> = { fits: () => true };

test('pages go backwards over the days without a gap or a record twice, whatever their size (R-RPC-036)', async () => {
  const { trail } = trailOf();
  for (const limit of [1, 3, 12, 25, 26]) {
    const seen: number[] = [];
    let before: string | undefined;
    do {
      const page = await trail.page({ ...all, limit, before }, signal);
      seen.push(...page.records.map(({ n }) => n));
      expect(page.keptSince).toBe('2026-05-18');
      before = page.next;
    } while (before !== undefined);
    expect(seen, String(limit)).toEqual(Array.from({ length: 25 }, (_, at) => 25 - at));
  }
});

test('what is written meanwhile moves no page; a cursor whose record is gone goes on with the day before', async () => {
  const { trail, root } = trailOf();
  const first = await trail.page({ ...all, limit: 5 }, signal);
  trail.add(entry(26, daysAgo(0)));
  const second = await trail.page({ ...all, limit: 5, before: first.next }, signal);
  expect(second.records.map(({ n }) => n)).toEqual([20, 19, 18, 17, 16]);
  const file = join(root, 'audit', '2026-05-20.jsonl');
  const lines = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, lines.filter((line) => !line.includes('"n":16')).join('\n'));
  const third = await trail.page({ ...all, limit: 3, before: second.next }, signal);
  expect(third.records.map(({ n }) => n)).toEqual([12, 11, 10]);
});

test('a day and a filter are kept to, and a cursor that is none is refused', async () => {
  const { trail } = trailOf();
  const day = await trail.page({ ...all, limit: 100, day: '2026-05-19' }, signal);
  expect(day.records.map(({ n }) => n)).toEqual([12, 11]);
  const even = await trail.page({ fits: ({ operation }) => operation === 'exec.run', limit: 2 }, signal);
  expect(even.records.map(({ n }) => n)).toEqual([24, 22]);
  expect(even.next).toBe(recordId(even.records[1] as never));
  await expect(trail.page({ ...all, limit: 1, before: '../../etc' }, signal)).rejects.toThrow(/not the id of a record/);
});

test('a check is shared, remembered for as long as is asked, and names the records on both sides of a fault', async () => {
  const { trail, root } = trailOf();
  const [one, two] = await Promise.all([trail.checks.within(0, now, signal), trail.checks.within(0, now, signal)]);
  expect(one).toBe(two);
  expect(one.found).toMatchObject({ records: 25, writers: 1, faults: [] });
  expect(one.found.ends.get(trail.writer)).toBe(25);
  const file = join(root, 'audit', '2026-05-18.jsonl');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"n":4,', '"n":4 ,'));
  const later = new Date(now.getTime() + 1000);
  expect((await trail.checks.within(5000, later, signal)).found.faults).toEqual([]);
  const { found } = await trail.checks.within(0, later, signal);
  expect(found.faults).toMatchObject([{ file, line: 4, record: { n: 4 }, before: { n: 3 } }]);
  const gone = new AbortController();
  gone.abort();
  await expect(trail.checks.within(0, later, gone.signal)).rejects.toThrow(/cancelled/);
  await trail[Symbol.asyncDispose]();
  await expect(trail.checks.within(0, later, signal)).rejects.toThrow(/abort/i);
});

test('the file of a day comes byte for byte, and not if it is too large', async () => {
  const { trail, root } = trailOf();
  expect(trail.days).toEqual(['2026-05-18', '2026-05-19', '2026-05-20']);
  const file = readFileSync(join(root, 'audit', '2026-05-19.jsonl'));
  expect(await trail.day('2026-05-19', 1 << 20)).toEqual(file);
  expect(await trail.day('2026-05-01', 1 << 20)).toBeUndefined();
  await expect(trail.day('2026-05-19', 10)).rejects.toThrow(/at most 10 fit/);
});
