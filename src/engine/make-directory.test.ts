import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from './make-directory.ts';

test('makes what is missing, once or twice or at the same time, with the mode', async () => {
  const root = await mkdtemp(join(tmpdir(), 'fairlead-dir-'));
  const wanted = join(root, 'a', 'b', 'c');
  await Promise.all([makeDirectory(wanted, 0o700), makeDirectory(wanted, 0o700)]);
  await makeDirectory(wanted, 0o700);
  expect((await stat(wanted)).mode & 0o777).toBe(0o700);
  await writeFile(join(root, 'file'), '');
  await expect(makeDirectory(join(root, 'file', 'below'), 0o700)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeDirectory(join(root, 'file'), 0o700)).rejects.toMatchObject({ code: 'EEXIST' });
  await rm(root, { recursive: true });
});

test.runIf(process.platform === 'linux')('ends where nothing can be made', async () => {
  await expect(makeDirectory('/proc/nowhere/below', 0o700)).rejects.toThrow(/ENOENT|EACCES|EPERM/);
});
