import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Recordings } from '../../../src/engine/recording/recordings.ts';
import { openPart, type PartHandle } from '../../../src/engine/recording/part-file.ts';
import { type CastEvent, finished, readLines, readMeta, Studio } from '../../support/recording.ts';

const at = new Studio();

describe('why it ended (R-TERM-078)', () => {
  test('session_exit, with the exit code', async () => {
    const recordings = at.open();
    const end = finished(recordings);
    const { recordingId } = await recordings.start(at.terminal);
    at.terminal.print('bye');
    await at.terminal.end({ by: 'exit', code: 3 });
    expect(await end).toMatchObject({ recordingId, stopReason: 'session_exit', exitCode: 3, saved: true });
    await expect(recordings.stop(recordingId)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('max_duration', async () => {
    const recordings = at.open();
    const end = finished(recordings);
    await recordings.start(at.terminal, { maxDuration: 5, inactivityTimeout: 0 });
    at.clock.advance(4_999);
    expect(recordings.activeOf(at.terminal.id)).toBeDefined();
    at.clock.advance(1);
    expect(await end).toMatchObject({ stopReason: 'max_duration', exitCode: null, durationMs: 5_000 });
  });

  test('inactivity: only output counts as activity; 0 means never', async () => {
    const recordings = at.open();
    const end = finished(recordings);
    await recordings.start(at.terminal, { maxDuration: 0, inactivityTimeout: 10, input: true });
    at.clock.advance(9_000);
    at.terminal.print('x');
    at.clock.advance(9_000);
    at.terminal.type('y', true);
    expect(recordings.activeOf(at.terminal.id)).toBeDefined();
    at.clock.advance(1_000);
    expect(await end).toMatchObject({ stopReason: 'inactivity', durationMs: 19_000 });
    const endless = await at.open().start(at.terminal, { maxDuration: 0, inactivityTimeout: 0 });
    at.clock.advance(1e9);
    expect(endless.maxDuration).toBe(0);
    expect(at.terminal.listeners).toBeGreaterThan(0);
  });

  test('R-TERM-081 disk_full at the size limit, with a valid file', async () => {
    const recordings = at.open({ parts: { freeBytes: async () => 1e12, limits: { castBytes: 2_000 } } });
    const end = finished(recordings);
    await recordings.start(at.terminal);
    for (let i = 0; i < 100; i++) at.terminal.print('x'.repeat(100));
    const { path, ...result } = await end;
    expect(result).toMatchObject({ stopReason: 'disk_full', saved: true });
    expect((await stat(path)).size).toBeLessThanOrEqual(2_000);
    expect((await readLines(path)).length).toBeGreaterThan(10);
  });

  test('R-TERM-081 disk_full when space runs out; with too little at the start, an error and no file', async () => {
    let free = 1e12;
    const recordings = at.open({ parts: { freeBytes: async () => free } });
    const end = finished(recordings);
    await recordings.start(at.terminal);
    at.terminal.print('x');
    free = 199e6;
    at.clock.advance(1_000);
    expect(await end).toMatchObject({ stopReason: 'disk_full', saved: true });
    const files = await readdir(at.dir);
    await expect(recordings.start(at.terminal)).rejects.toMatchObject({
      code: 'unavailable',
      message: `There is too little room for a recording in ${at.dir}: 199 MB are free, 200 MB are needed.`,
      data: { freeBytes: 199e6, neededBytes: 200e6 },
    });
    expect(recordings.activeOf(at.terminal.id)).toBeUndefined();
    expect(await readdir(at.dir)).toEqual(files);
  });

  test('a failing disk ends it with a file cut at its last whole line', async () => {
    let broken = false;
    const openFailing = async (path: string): Promise<PartHandle> => {
      const handle = await openPart(path);
      return {
        write: async (bytes, offset, length, position) => {
          if (!broken) return handle.write(bytes, offset, length, position);
          await handle.write(bytes, offset, Math.floor(length / 2), position);
          throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        },
        truncate: (length) => handle.truncate(length),
        sync: () => handle.sync(),
        close: () => handle.close(),
      };
    };
    const recordings = at.open({ parts: { freeBytes: async () => 1e12, open: openFailing } });
    const end = finished(recordings);
    const { path: wanted } = await recordings.start(at.terminal);
    at.terminal.print('good');
    at.clock.advance(1_000);
    await expect.poll(() => readFile(wanted.replace(/([^/]+)$/, '.$1.part'), 'utf8')).toContain('good');
    broken = true;
    for (let i = 0; i < 10; i++) at.terminal.print(`line ${i}`);
    at.clock.advance(1_000);
    const { path, stopReason } = await end;
    expect(stopReason).toBe('disk_full');
    const lines = await readLines(path);
    expect(lines[1]).toEqual([0, 'o', 'good']);
    at.terminal.print('later');
  });

  test('a disk that does not keep up ends it before memory does', async () => {
    const stuck = async (path: string): Promise<PartHandle> => {
      const handle = await openPart(path);
      let first = true;
      return {
        write: (bytes, offset, length, position) => {
          if (!first) return new Promise(() => {});
          first = false;
          return handle.write(bytes, offset, length, position);
        },
        truncate: (length) => handle.truncate(length),
        sync: () => handle.sync(),
        close: () => handle.close(),
      };
    };
    const limits = { waitingBytes: 1 << 20 };
    const recordings = at.open({ parts: { freeBytes: async () => 1e12, open: stuck, limits } });
    await recordings.start(at.terminal);
    for (let i = 0; i < 100; i++) at.terminal.print('x'.repeat(65_536));
    expect(at.terminal.listeners).toBe(0);
    const end = finished(recordings);
    // R-TERM-081: shutdown waits two seconds at most, and the part file stays for `recover`.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let isClosed = false;
    const closing = recordings[Symbol.asyncDispose]().then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(1_999);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await closing;
    vi.useRealTimers();
    expect((await readdir(at.dir)).some((name) => name.endsWith('.cast.part'))).toBe(true);
    at.clock.advance(10_000);
    expect(await end).toMatchObject({ saved: false, path: '', stopReason: 'disk_full' });
  });
});

describe('on-failure (R-TERM-079)', () => {
  const run = async (
    act: (recordings: Recordings, id: string) => Promise<unknown>,
  ): Promise<Record<string, unknown>> => {
    const recordings = at.open();
    const end = finished(recordings);
    const { recordingId } = await recordings.start(at.terminal, { mode: 'on-failure' });
    at.terminal.print('x');
    await act(recordings, recordingId);
    return { ...(await end) };
  };
  test('not kept: no path, no files, a reason', async () => {
    const result = await run((recordings, id) => recordings.stop(id));
    expect(result).toMatchObject({
      saved: false,
      path: '',
      stopReason: 'explicit',
      reason: expect.any(String) as string,
    });
    expect(await readdir(at.dir)).toEqual([]);
  });
  test('not kept when the shell exits with 0', async () => {
    expect(await run(() => at.terminal.end({ by: 'exit', code: 0 }))).toMatchObject({ saved: false, exitCode: 0 });
  });
  test('not kept when its session was closed, which ends a shell by a signal', async () => {
    const closed = async (): Promise<void> => {
      at.terminal.state.isClosing = true;
      await at.terminal.end({ by: 'signal', signal: 'HUP' });
    };
    expect(await run(closed)).toMatchObject({ saved: false, stopReason: 'session_exit', exitCode: null });
  });
  test('kept when its session was closed after a command had failed', async () => {
    const closed = async (): Promise<void> => {
      at.terminal.run('false', 1);
      at.terminal.state.isClosing = true;
      await at.terminal.end({ by: 'signal', signal: 'HUP' });
    };
    expect(await run(closed)).toMatchObject({ saved: true });
  });
  test.each([
    ['the shell failed', () => at.terminal.end({ by: 'exit', code: 1 })],
    ['the child was killed', () => at.terminal.end({ by: 'signal', signal: 'KILL' })],
    [
      'a command failed',
      async (recordings: Recordings, id: string) => {
        at.terminal.run('false', 1);
        at.terminal.run('true', 0);
        await recordings.stop(id);
      },
    ],
    ['the caller says so', (recordings: Recordings, id: string) => recordings.stop(id, { failed: true })],
  ])('kept when %s', async (_why, act) => {
    const result = await run(act);
    expect(result['saved']).toBe(true);
    expect((await readMeta(result['path'] as string)).failed).toBe(true);
  });
});

test('output right after the snapshot is in the cast, output before it only in the snapshot', async () => {
  await mkdir(join(at.dir, 'x'));
  const recordings = at.open();
  at.terminal.shows = 'before';
  const starting = recordings.start(at.terminal);
  const { recordingId } = await starting;
  at.terminal.print('after');
  const { path } = await recordings.stop(recordingId);
  expect((await readLines(path)).slice(1).map((event) => (event as CastEvent)[2])).toEqual(['before', 'after']);
});
