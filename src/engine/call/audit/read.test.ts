import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { newestRecords as newestReadable, type AuditQuery } from './read.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

const { signal } = new AbortController();
const newestRecords = (root: string, wanted: AuditQuery, most: number, stop: AbortSignal) =>
  newestReadable(root, wanted, most, stop, ({ message }) => expect.unreachable(message));
const line = (seq: number, detail: string): string => JSON.stringify({ seq, detail, writer: 'w', hash: 'h' });

async function trailOf(days: Readonly<Record<string, readonly string[]>>): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'fairlead-read-'));
  roots.push(root);
  await mkdir(join(root, 'audit'));
  for (const [day, lines] of Object.entries(days)) {
    writeFileSync(join(root, 'audit', `${day}.jsonl`), lines.map((text) => `${text}\n`).join(''));
  }
  return root;
}

test('newest first over files, chunks and letters of several bytes (R-RPC-036)', async () => {
  // Lines of every length from none to several chunks, so that some end wherever a chunk does.
  const lengths = [0, 1, 300, 65_500, 65_536, 200_000, 7, 0];
  const lines = lengths.map((length, seq) => line(seq, 'é'.repeat(length)));
  const root = await trailOf({ '2026-05-01': lines.slice(0, 3), '2026-05-02': [...lines.slice(3), 'half a rec'] });
  const all = await newestRecords(root, { fits: () => true }, 100, signal);
  expect(all.map(({ seq }) => seq)).toEqual([7, 6, 5, 4, 3, 2, 1, 0]);
  expect(all.map(({ detail }) => detail?.length)).toEqual(lengths.toReversed());
  expect((await newestRecords(root, { fits: ({ seq }) => seq < 6 }, 2, signal)).map(({ seq }) => seq)).toEqual([5, 4]);
});

test('it does not look at days before what is asked for', async () => {
  const root = await trailOf({ '2026-05-01': [line(1, '')], '2026-05-02': [line(2, '')] });
  const found = await newestRecords(root, { since: Date.parse('2026-05-02T10:00:00Z'), fits: () => true }, 9, signal);
  expect(found.map(({ seq }) => seq)).toEqual([2]);
});

test('others have their turn while a long trail is searched, and who hangs up ends the search', async () => {
  const root = await trailOf({ '2026-05-01': Array.from({ length: 50_000 }, (_, seq) => line(seq, 'x'.repeat(100))) });
  let turns = 0;
  const turn = setInterval(() => (turns += 1), 0);
  expect(await newestRecords(root, { fits: ({ seq }) => seq === 0 }, 1, signal)).toHaveLength(1);
  clearInterval(turn);
  expect(turns).toBeGreaterThan(10);
  const gone = AbortSignal.abort();
  await expect(newestRecords(root, { fits: () => false }, 1, gone)).rejects.toThrow('abort');
});

test('a file that cannot be read is told of, and the others are read (R-RPC-036)', async () => {
  const root = await trailOf({ '2026-05-01': [line(1, '')], '2026-05-03': [line(3, '')] });
  await mkdir(join(root, 'audit', '2026-05-02.jsonl'));
  const unread: string[] = [];
  const found = await newestReadable(root, { fits: () => true }, 9, signal, ({ message }) => unread.push(message));
  expect([found.map(({ seq }) => seq), unread]).toEqual([[3, 1], [expect.stringContaining('EISDIR')]]);
});
