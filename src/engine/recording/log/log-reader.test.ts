import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logLine } from './log-line.ts';
import { type LogRecord, readLog } from './log-reader.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-log-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function all(text: string): Promise<LogRecord[]> {
  const path = join(folder, 'x.log');
  writeFileSync(path, text);
  return await records(path);
}

async function records(path: string): Promise<LogRecord[]> {
  const found: LogRecord[] = [];
  for await (const record of readLog(path)) found.push(record);
  return found;
}

test('unknown events and lines that are none are skipped (R-RPC-060)', async () => {
  const text = `${logLine(1, 'out', 'a')}2\tnew_event\t\nnonsense\n3\tout\t###\n${logLine(4, 'block_exit', '0')}`;
  expect(await all(text)).toEqual([
    { micros: 1, name: 'out', data: Buffer.from('a'), end: 11 },
    { micros: 4, name: 'block_exit', data: Buffer.from('0'), end: text.length },
  ]);
});

test('a log that was cut anywhere is read up to its last whole line', async () => {
  const lines = Array.from({ length: 30 }, (_, n) => logLine(n, 'out', Buffer.alloc(n * 3, n)));
  const text = lines.join('');
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: text.length }), async (cut) => {
      const read = await all(text.slice(0, cut));
      const whole = text.slice(0, cut).split('\n').length - 1;
      expect(read).toHaveLength(whole);
      expect(read.at(-1)?.end ?? 0).toBe(lines.slice(0, whole).join('').length);
    }),
    { numRuns: 50 },
  );
});

test('a link in place of a log is not followed', async () => {
  const path = join(folder, 'link.log');
  symlinkSync(join(folder, 'x.log'), path);
  await expect(records(path)).rejects.toThrow('ELOOP');
});

test('a line that is too long for a log is skipped, and the places behind it are still true', async () => {
  const text = `${'A'.repeat(9 << 20)}\n${logLine(4, 'out', 'a')}`;
  expect(await all(text)).toMatchObject([{ micros: 4, end: text.length }]);
});
