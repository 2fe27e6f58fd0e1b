import { access, readdir, rm, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordingFiles, type RecordingFiles } from '../../../src/engine/recording/names.ts';
import { readLines, readMeta, Studio } from '../../support/recording.ts';

const at = new Studio();

const filesAt = (cast: string): RecordingFiles => {
  const name = cast.slice(at.dir.length + 1).replace(/\.cast$/, '');
  return recordingFiles(at.dir, name);
};

test('a recording whose directory was removed says that nothing was saved', async () => {
  const recordings = at.open();
  const { recordingId } = await recordings.start(at.terminal, { outputDir: join(at.dir, 'gone') });
  at.terminal.print('x');
  await rm(join(at.dir, 'gone'), { recursive: true });
  const result = await recordings.stop(recordingId);
  expect(result).toMatchObject({ saved: false, path: '', stopReason: 'explicit' });
  expect(result.reason).toContain('gone');
});

test('a recording whose part file was removed leaves nothing that looks like one', async () => {
  const recordings = at.open();
  const { recordingId, path } = await recordings.start(at.terminal);
  await unlink(filesAt(path).part);
  expect(await recordings.stop(recordingId)).toMatchObject({ saved: false, path: '' });
  expect(await readdir(at.dir)).toEqual([]);
});

/** A disk with no room for another file, as far as the metadata is concerned. */
const fullDisk = '/dev/full';
const hasFullDisk = await access(fullDisk).then(
  () => true,
  () => false,
);

test.runIf(hasFullDisk)('R-TERM-077 the metadata finds room on a full disk, and no other file stays', async () => {
  const recordings = at.open();
  const { recordingId, path } = await recordings.start(at.terminal, { title: 'no room' });
  at.terminal.run('false', 1);
  await symlink(fullDisk, `${filesAt(path).writer}.tmp`);
  expect(await recordings.stop(recordingId)).toMatchObject({ saved: true, path });
  expect(await readMeta(path)).toMatchObject({
    recordingId,
    title: 'no room',
    failed: true,
    commands: [{ exitCode: 1 }],
  });
  expect((await readdir(at.dir)).toSorted()).toEqual(
    [filesAt(path).cast, `${filesAt(path).cast}.keys`, filesAt(path).metadata].map((one) =>
      one.slice(at.dir.length + 1),
    ),
  );
  expect(await readLines(path)).toHaveLength(1);
});

test.runIf(hasFullDisk)('on a full disk commands that find no room are left out', async () => {
  const recordings = at.open();
  const { recordingId, path } = await recordings.start(at.terminal);
  for (let i = 0; i < 1_000; i++) at.terminal.run(`echo ${i} ${'x'.repeat(100)}`, 0);
  await symlink(fullDisk, `${filesAt(path).writer}.tmp`);
  await recordings.stop(recordingId);
  const { commands } = await readMeta(path);
  expect(commands[0]?.command).toContain('echo 0 ');
  expect(commands.length).toBeGreaterThan(20);
  expect(commands.length).toBeLessThan(1_000);
});
