import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PictureFolder, stampOf } from './picture-folder.ts';

const day = 24 * 3600_000;
const now = Date.UTC(2026, 0, 31, 23, 59, 59, 999);
const bytes = Buffer.from('png');
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'fairlead-folder-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('files are private and named after their kind and time; two of one millisecond get two names (R-RPC-123)', async () => {
  const folder = new PictureFolder(join(dir, 'deep', 'pictures'));
  const first = await folder.save('window', bytes, now);
  expect(basename(first)).toBe('window_20260131_235959_999.png');
  expect(basename(await folder.save('window', bytes, now))).toBe('window_20260201_000000_000.png');
  expect(statSync(first).mode & 0o777).toBe(0o600);
  expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  const together = await Promise.all(Array.from({ length: 20 }, () => folder.save('screen', bytes, now)));
  expect(new Set(together).size).toBe(20);
});

test('the newest 500 of 30 days stay, of every kind; files of a person stay in any case (R-RPC-123)', async () => {
  const folder = new PictureFolder(dir);
  const old = [`screen_${stampOf(now - 31 * day)}.png`, `${stampOf(now - 40 * day)}-a3f2c-01ab.png`];
  const own = ['holiday.png', 'screen_shot.png', `screen_${stampOf(now - 99 * day)}.png.bak`];
  const young = Array.from({ length: 520 }, (_, at) => `region_${stampOf(now - 1000 - at)}.png`);
  for (const name of [...old, ...own, ...young]) writeFileSync(join(dir, name), '');
  const saved = await folder.save('screen', bytes, now);
  const left = readdirSync(dir);
  expect(left.filter((name) => own.includes(name)).toSorted()).toEqual(own.toSorted());
  expect(left.filter((name) => old.includes(name))).toEqual([]);
  const pictures = left.filter((name) => !own.includes(name));
  expect(pictures).toHaveLength(500);
  expect(pictures).toContain(basename(saved));
  expect(pictures).toEqual(expect.arrayContaining(young.slice(0, 499)));
});

test('a picture from a clock that runs late is not the first to go', async () => {
  const folder = new PictureFolder(dir);
  writeFileSync(join(dir, `screen_${stampOf(now + day)}.png`), '');
  expect(existsSync(await folder.save('screen', bytes, now - 60 * day))).toBe(true);
});

test('a folder that cannot be written is an error that says so', async () => {
  writeFileSync(join(dir, 'file'), '');
  await expect(new PictureFolder(join(dir, 'file')).save('screen', bytes, now)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('could not be written') as string,
  });
});
