import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FairleadError } from '../../../src/contract/errors.ts';
import { openPart } from '../../../src/engine/recording/part-file.ts';
import { FakeTerminal, finished, readLines, readMeta, Studio } from '../../support/recording.ts';

const at = new Studio();

describe('the file while it grows (R-TERM-075)', () => {
  test('is hidden, private, valid at once and flushed every second; nothing hidden is left after the stop', async () => {
    const recordings = at.open();
    const { recordingId, path } = await recordings.start(at.terminal);
    const part = path.replace(/([^/]+)$/, '.$1.part');
    expect((await stat(part)).mode & 0o777).toBe(0o600);
    expect(await readLines(part)).toHaveLength(1);
    at.terminal.print('first');
    at.clock.advance(1000);
    await expect.poll(() => readFile(part, 'utf8')).toContain('first');
    expect(await readdir(at.dir)).not.toContain(path.split('/').at(-1));
    await recordings.stop(recordingId);
    expect((await readdir(at.dir)).filter((name) => name.startsWith('.'))).toEqual([]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('a full buffer is written without waiting for the second', async () => {
    const recordings = at.open();
    const { path } = await recordings.start(at.terminal);
    at.terminal.print('x'.repeat(70_000));
    await expect.poll(async () => (await stat(path.replace(/([^/]+)$/, '.$1.part'))).size).toBeGreaterThan(70_000);
    await recordings[Symbol.asyncDispose]();
  });

  test('a directory that cannot be used is named at the start, with what to do, and nothing stays active', async () => {
    await writeFile(join(at.dir, 'file'), '');
    const recordings = at.open();
    const error = await recordings
      .start(at.terminal, { outputDir: join(at.dir, 'file', 'sub') })
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(FairleadError);
    expect((error as FairleadError).message).toContain(join(at.dir, 'file', 'sub'));
    expect((error as FairleadError).hint).toContain('outputDir');
    expect(recordings.activeOf(at.terminal.id)).toBeUndefined();
    await recordings.start(at.terminal, { outputDir: join(at.dir, 'a', 'b') });
    expect((await stat(join(at.dir, 'a', 'b'))).mode & 0o777).toBe(0o700);
  });

  test('a link in the way is not followed', async () => {
    const target = join(at.dir, 'target');
    const path = join(at.dir, 'part');
    await symlink(target, path);
    await expect(openPart(path)).rejects.toMatchObject({ code: 'EEXIST' });
  });
});

describe('what cannot be recorded, and where to (R-TERM-070)', () => {
  test('R-TERM-078: a session that has ended is refused with the true reason, and passed over by all', async () => {
    await at.terminal.end({ by: 'exit', code: 0 });
    const recordings = at.open();
    const refused = { code: 'terminal_exited', message: expect.stringContaining('nothing to record') as string };
    await expect(recordings.start(at.terminal)).rejects.toMatchObject(refused);
    await expect(recordings.startAll([at.terminal])).rejects.toMatchObject(refused);
    expect(await readdir(at.dir)).toEqual([]);
    const running = new FakeTerminal(at.clock, 'bbbbb');
    expect(await recordings.startAll([at.terminal, running])).toMatchObject({
      recordings: [{ sessionId: 'bbbbb' }],
      alreadyRecorded: [],
    });
  });

  test('a session that ends while its recording begins is not blamed on the disk', async () => {
    const recordings = at.open({
      parts: {
        freeBytes: async () => {
          await at.terminal.end({ by: 'exit', code: 0 });
          return 1e12;
        },
      },
    });
    const end = finished(recordings);
    expect(await recordings.start(at.terminal)).toMatchObject({ stopReason: 'session_exit' });
    await end;
  });

  test('~ is the home directory', async () => {
    const recordings = at.open({ home: at.dir });
    const { path } = await recordings.start(at.terminal, { outputDir: '~/casts' });
    expect(path.startsWith(join(at.dir, 'casts', 'terminal-'))).toBe(true);
    const other = await recordings.start(new FakeTerminal(at.clock, 'bbbbb'), { outputDir: '~' });
    expect(other.path.startsWith(join(at.dir, 'terminal-'))).toBe(true);
    await recordings[Symbol.asyncDispose]();
  });

  test('R-TERM-077: time begins when the recording does, and no command ends after it', async () => {
    const recordings = at.open();
    Object.assign(at.terminal, {
      sync: async () => at.clock.advance(300),
    });
    const { recordingId } = await recordings.start(at.terminal);
    at.clock.advance(1_000);
    at.terminal.run('make', 0);
    const late = at.clock.now() + 50;
    const now = at.clock.now.bind(at.clock);
    Object.assign(at.clock, { now: () => late });
    at.terminal.run('late', 0);
    Object.assign(at.clock, { now });
    const { path, durationMs } = await recordings.stop(recordingId);
    const meta = await readMeta(path);
    expect(durationMs).toBe(1_000);
    expect(meta).toMatchObject({ startTime: 1_700_000_000_300, endTime: 1_700_000_001_300 });
    expect(meta.commands).toMatchObject([
      { startMs: 1_000, endMs: 1_000 },
      { startMs: 1_000, endMs: 1_000 },
    ]);
  });
});
