import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory, makeDirectorySync } from './directories.ts';

const both = [
  ['async', makeDirectory],
  ['sync', async (path: string, mode: number) => makeDirectorySync(path, mode)],
] as const;

test.each(both)('%s: makes what is missing, once or twice or at the same time, with the mode', async (_, make) => {
  const root = await mkdtemp(join(tmpdir(), 'fairlead-dir-'));
  const wanted = join(root, 'a', 'b', 'c');
  await Promise.all([make(wanted, 0o700), make(wanted, 0o700)]);
  await make(wanted, 0o700);
  expect((await stat(wanted)).mode & 0o777).toBe(0o700);
  await writeFile(join(root, 'file'), '');
  await expect(make(join(root, 'file', 'below'), 0o700)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(make(join(root, 'file'), 0o700)).rejects.toMatchObject({ code: 'EEXIST' });
  await rm(root, { recursive: true });
});

test.runIf(process.platform === 'linux').each(both)('%s: ends where nothing can be made', async (_, make) => {
  await expect(make('/proc/nowhere/below', 0o700)).rejects.toThrow(/ENOENT|EACCES|EPERM/);
});
