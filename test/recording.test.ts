import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FairleadError } from '../src/contract/errors.ts';
import type { RecordingMetadata } from '../src/engine/recording/metadata.ts';
import type { PartHandle } from '../src/engine/recording/part-file.ts';
import { openPart } from '../src/engine/recording/part-file.ts';
import { Recordings, type RecordingsOptions, type StartOptions } from '../src/engine/recording/recordings.ts';
import { FakeClock, FakeTerminal, type TempDir, tempDir } from './recording-support.ts';

let dir: TempDir;
let clock: FakeClock;
let terminal: FakeTerminal;
beforeEach(async () => {
  dir = await tempDir();
  clock = new FakeClock();
  terminal = new FakeTerminal(clock);
});
afterEach(() => dir[Symbol.asyncDispose]());

const open = (more: Partial<RecordingsOptions> = {}): Recordings =>
  new Recordings({
    dir: dir.path,
    idleTimeLimit: 2,
    maxDuration: 3600,
    inactivityTimeout: 600,
    clock,
    parts: { freeBytes: async () => 1e12 },
    ...more,
  });

type Event = [number, string, string];
async function readLines(path: string): Promise<[Record<string, unknown>, ...Event[]]> {
  const text = await readFile(path, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Event) as unknown as [Record<string, unknown>, ...Event[]];
}
const readMeta = async (path: string): Promise<RecordingMetadata> =>
  JSON.parse(await readFile(path.replace(/\.cast$/, '.meta.json'), 'utf8')) as RecordingMetadata;
const finished = (recordings: Recordings): Promise<{ readonly stopReason: string; readonly path: string }> =>
  new Promise((resolve) => recordings.finished.on(resolve));

async function record(
  options: StartOptions,
  act: () => void | Promise<void>,
): Promise<{ lines: [Record<string, unknown>, ...Event[]]; meta: RecordingMetadata }> {
  const recordings = open();
  const { recordingId } = await recordings.start(terminal, options);
  await act();
  const { path } = await recordings.stop(recordingId);
  return { lines: await readLines(path), meta: await readMeta(path) };
}

describe('start and stop', () => {
  test('R-TERM-070 R-TERM-076: the answers have the shapes of the page, and more', async () => {
    const recordings = open();
    const started = await recordings.start(terminal);
    expect(started).toEqual({
      recordingId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      path: join(dir.path, `terminal-1700000000000-${started.recordingId}.cast`),
      format: 'v2',
      mode: 'always',
      maxDuration: 3600,
      inactivityTimeout: 600,
      message: expect.stringMatching(/^Recording\. The file is complete when it is stopped/) as string,
      sessionId: '0a1b2',
    });
    expect(Object.keys(started).slice(0, 4)).toEqual(['recordingId', 'path', 'format', 'mode']);
    expect(recordings.activeOf('0a1b2')).toBe(started.recordingId);
    clock.advance(62_186);
    const stopped = await recordings.stop(started.recordingId);
    expect(stopped).toEqual({
      recordingId: started.recordingId,
      path: started.path,
      durationMs: 62_186,
      bytesWritten: (await stat(started.path)).size,
      saved: true,
      mode: 'always',
      stopReason: 'explicit',
      exitCode: null,
      sessionId: '0a1b2',
    });
    expect(recordings.activeOf('0a1b2')).toBeUndefined();
    expect(terminal.listeners).toBe(0);
    expect(clock.timers).toBe(0);
  });

  test('R-TERM-071: one recording per session; the second is told of the first, also at the same moment', async () => {
    const recordings = open();
    const [first, second] = await Promise.allSettled([recordings.start(terminal), recordings.start(terminal)]);
    expect(first.status).toBe('fulfilled');
    const error = (second as PromiseRejectedResult).reason as FairleadError;
    expect(error).toBeInstanceOf(FairleadError);
    expect(error.code).toBe('conflict');
    expect(error.message).toBe('A recording is already in progress');
    const started = (first as PromiseFulfilledResult<{ recordingId: string; path: string }>).value;
    expect(error.data).toEqual({ activeRecordingId: started.recordingId, activePath: started.path });
  });

  test('R-TERM-071: sessions are recorded side by side, each with its own bytes', async () => {
    const recordings = open();
    const other = new FakeTerminal(clock, 'ffff0');
    const all = await recordings.startAll([terminal, other]);
    terminal.print('mine');
    other.print('yours');
    const results = await Promise.all(all.map(({ recordingId }) => recordings.stop(recordingId)));
    const texts = await Promise.all(results.map(({ path }) => readFile(path, 'utf8')));
    expect(texts.map((text) => [text.includes('mine'), text.includes('yours')])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  test('R-TERM-080: a second stop says so, with the result; an unknown id too; after an hour it is forgotten', async () => {
    const recordings = open();
    const { recordingId } = await recordings.start(terminal);
    const result = await recordings.stop(recordingId);
    const again = await recordings.stop(recordingId).catch((thrown: FairleadError) => thrown);
    expect(again).toMatchObject({
      code: 'conflict',
      message: `Recording already finalized: ${recordingId}`,
      data: result,
    });
    await expect(recordings.stop('nope')).rejects.toMatchObject({
      code: 'not_found',
      message: 'Recording not found: nope',
    });
    clock.advance(3_599_000);
    await expect(recordings.stop(recordingId)).rejects.toMatchObject({ code: 'conflict' });
    clock.advance(1_001);
    await expect(recordings.stop(recordingId)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('R-TERM-081: a recording by the server does not stand in the way of one that is asked for', async () => {
    const recordings = open({ auto: 'always' });
    const auto = await recordings.autoStart(terminal);
    const asked = await recordings.start(terminal);
    expect(asked.recordingId).not.toBe(auto?.recordingId);
    expect(recordings.active).toHaveLength(2);
    expect(await open({ auto: 'off' }).autoStart(terminal)).toBeUndefined();
    await recordings[Symbol.asyncDispose]();
    const names = await readdir(dir.path);
    expect(names.filter((name) => name.endsWith('.cast'))).toHaveLength(2);
    expect((await readMeta(asked.path)).stopReason).toBe('server_shutdown');
    await expect(recordings.start(terminal)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('what is written', () => {
  test('R-TERM-072 R-TERM-073: header, output, sizes, times', async () => {
    const { lines, meta } = await record({ title: 'A demo' }, () => {
      clock.advance(10_000);
      terminal.print('a');
      clock.advance(250);
      terminal.resizeTo({ cols: 100, rows: 30 });
      clock.advance(5_000);
      terminal.print('b');
    });
    expect(lines).toEqual([
      {
        version: 2,
        width: 80,
        height: 24,
        timestamp: 1_700_000_000,
        env: { SHELL: '/bin/bash', TERM: 'xterm-256color' },
        title: 'A demo',
        idle_time_limit: 2,
      },
      [2, 'o', 'a'],
      [2.25, 'r', '100x30'],
      [4.25, 'o', 'b'],
    ]);
    expect(meta.durationMs).toBe(15_250);
    expect(meta.castDurationMs).toBe(4_250);
  });

  test('R-TERM-072: a character split between reads is whole, and what is no text becomes a mark', async () => {
    const { lines } = await record({ idleTimeLimit: 0 }, () => {
      const bytes = new TextEncoder().encode('é👍');
      for (const byte of bytes) terminal.print(Uint8Array.of(byte));
      terminal.print(Uint8Array.of(0xff, 0x41));
      terminal.print(Uint8Array.of(0xe2, 0x82));
    });
    expect(lines.slice(1).map((event) => (event as Event)[2])).toEqual(['é', '👍', '\ufffdA', '\ufffd']);
  });

  test('R-TERM-074: the first frame is the screen as it is, unless unwanted', async () => {
    terminal.shows = '$ vim\x1b[H';
    const shown = await record({}, () => terminal.print('x'));
    expect(shown.lines.slice(1)).toEqual([
      [0, 'o', '$ vim\x1b[H'],
      [0, 'o', 'x'],
    ]);
    const bare = await record({ snapshot: false }, () => terminal.print('x'));
    expect(bare.lines.slice(1)).toEqual([[0, 'o', 'x']]);
  });

  test('R-TERM-070: input only when asked for, never without echo, and where that is unknown only what came out', async () => {
    const act = (): void => {
      terminal.type('ls\r', true);
      terminal.type('hunter2\r', false);
      terminal.type('secret sauce\r', undefined);
      terminal.print('\r\nwelcome\r\n$ ');
      terminal.type('make test', undefined);
      terminal.print('make test');
    };
    const inputs = async (options: StartOptions): Promise<string[]> =>
      (await record(options, act)).lines.flatMap((event) => ((event as Event)[1] === 'i' ? [(event as Event)[2]] : []));
    expect(await inputs({ input: true })).toEqual(['ls\r', '\r', 'make test']);
    expect(await inputs({})).toEqual([]);
  });

  test('R-TERM-070 R-TERM-077: markers at each command, and commands in the metadata', async () => {
    const { lines, meta } = await record({ markers: true }, () => {
      clock.advance(1000);
      terminal.run('make', 2);
      terminal.run('sleep 9');
    });
    expect(lines.slice(1)).toEqual([
      [1, 'm', 'make'],
      [1, 'm', 'sleep 9'],
    ]);
    expect(meta.commands).toEqual([{ command: 'make', exitCode: 2, startMs: 1000, endMs: 1000 }]);
    expect((await record({}, () => terminal.run('make', 0))).lines).toHaveLength(1);
  });

  test('v3: intervals and the exit status', async () => {
    const recordings = open();
    const end = finished(recordings);
    await recordings.start(terminal, { format: 'v3' });
    clock.advance(500);
    terminal.print('a');
    clock.advance(500);
    terminal.print('b');
    await terminal.end({ by: 'signal', signal: 'KILL' });
    const lines = await readLines((await end).path);
    expect(lines[0]).toMatchObject({ version: 3, term: { cols: 80, rows: 24, type: 'xterm-256color' } });
    expect(lines.slice(1)).toEqual([
      [0.5, 'o', 'a'],
      [0.5, 'o', 'b'],
      [0, 'x', '137'],
    ]);
  });

  test('R-TERM-070: redact masks output, input, commands and title, and keeps the pace', async () => {
    const secret = ['ghp', '_16C7e42F292c6912E7710c838347Ae178B4a'].join('');
    const options = { redact: true, input: true, markers: true, title: `with ${secret}`, idleTimeLimit: 0 };
    const { lines, meta } = await record(options, () => {
      terminal.print('$ ');
      clock.advance(1000);
      for (const char of `echo ${secret}`) {
        terminal.type(char, true);
        terminal.print(char);
      }
      clock.advance(1000);
      terminal.type('\r', true);
      terminal.run(`echo ${secret}`, 0);
      terminal.print(`\r\n${secret.slice(0, 11)}`);
      clock.advance(1000);
      terminal.print(`${secret.slice(11)}\r\n$ `);
    });
    const text = JSON.stringify([lines, meta]);
    expect(text).not.toContain(secret.slice(4, 20));
    expect(text).not.toContain(secret.slice(-12));
    const events = lines.slice(1) as Event[];
    expect(events[0]).toEqual([0, 'o', '$ ']);
    expect(events[1]).toEqual([1, 'o', 'e']);
    const shown = events.filter(([, code]) => code === 'o').map(([, , data]) => data);
    expect(shown.join('').replace(/<redacted:[0-9a-f]{8}>/g, '‹›')).toBe('$ echo ‹›\r\n‹›\r\n$ ');
    expect(events.at(-1)?.[0]).toBe(3);
    expect(meta.redactions).toBeGreaterThanOrEqual(5);
  });

  test('R-TERM-077: all keys of the metadata', async () => {
    const { meta, lines } = await record({ title: 't' }, () => terminal.print('x'));
    expect(lines).toHaveLength(2);
    const observed = ['exitCode', 'durationMs', 'startTime', 'endTime', 'bytesWritten', 'stopReason'];
    const added = 'recordingId sessionId mode castDurationMs cols rows title failed commands redactions format'.split(
      ' ',
    );
    expect(Object.keys(meta).sort()).toEqual([...observed, ...added].sort());
    expect(meta).toMatchObject({
      startTime: 1_700_000_000_000,
      exitCode: null,
      cols: 80,
      rows: 24,
      title: 't',
      failed: false,
    });
  });
});

describe('the file while it grows (R-TERM-075)', () => {
  test('is hidden, private, valid at once and flushed every second; nothing hidden is left after the stop', async () => {
    const recordings = open();
    const { recordingId, path } = await recordings.start(terminal);
    const part = path.replace(/([^/]+)$/, '.$1.part');
    expect((await stat(part)).mode & 0o777).toBe(0o600);
    expect(await readLines(part)).toHaveLength(1);
    terminal.print('first');
    clock.advance(1000);
    await expect.poll(() => readFile(part, 'utf8')).toContain('first');
    expect(await readdir(dir.path)).not.toContain(path.split('/').at(-1));
    await recordings.stop(recordingId);
    expect((await readdir(dir.path)).filter((name) => name.startsWith('.'))).toEqual([]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('a full buffer is written without waiting for the second', async () => {
    const recordings = open();
    const { path } = await recordings.start(terminal);
    terminal.print('x'.repeat(70_000));
    await expect.poll(async () => (await stat(path.replace(/([^/]+)$/, '.$1.part'))).size).toBeGreaterThan(70_000);
    await recordings[Symbol.asyncDispose]();
  });

  test('a directory that cannot be used is named at the start, with what to do, and nothing stays active', async () => {
    await writeFile(join(dir.path, 'file'), '');
    const recordings = open();
    const error = await recordings
      .start(terminal, { outputDir: join(dir.path, 'file', 'sub') })
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(FairleadError);
    expect((error as FairleadError).message).toContain(join(dir.path, 'file', 'sub'));
    expect((error as FairleadError).hint).toContain('outputDir');
    expect(recordings.activeOf(terminal.id)).toBeUndefined();
    await recordings.start(terminal, { outputDir: join(dir.path, 'a', 'b') });
    expect((await stat(join(dir.path, 'a', 'b'))).mode & 0o777).toBe(0o700);
  });

  test('a link in the way is not followed', async () => {
    const target = join(dir.path, 'target');
    const path = join(dir.path, 'part');
    await symlink(target, path);
    await expect(openPart(path)).rejects.toMatchObject({ code: 'EEXIST' });
  });
});

describe('what cannot be recorded, and where to (R-TERM-070)', () => {
  test('R-TERM-078: a session that has ended is refused with the true reason, and passed over by all', async () => {
    await terminal.end({ by: 'exit', code: 0 });
    const recordings = open();
    const refused = { code: 'terminal_exited', message: expect.stringContaining('nothing to record') as string };
    await expect(recordings.start(terminal)).rejects.toMatchObject(refused);
    await expect(recordings.startAll([terminal])).rejects.toMatchObject(refused);
    expect(await readdir(dir.path)).toEqual([]);
    const running = new FakeTerminal(clock, 'bbbbb');
    expect(await recordings.startAll([terminal, running])).toMatchObject([{ sessionId: 'bbbbb' }]);
  });

  test('a session that ends while its recording begins is not blamed on the disk', async () => {
    const recordings = open({
      parts: {
        freeBytes: async () => {
          await terminal.end({ by: 'exit', code: 0 });
          return 1e12;
        },
      },
    });
    const end = finished(recordings);
    const { message } = await recordings.start(terminal);
    expect(message).toContain('session_exit');
    expect(message).not.toContain('disk');
    await end;
  });

  test('~ is the home directory', async () => {
    const recordings = open({ home: dir.path });
    const { path } = await recordings.start(terminal, { outputDir: '~/casts' });
    expect(path.startsWith(join(dir.path, 'casts', 'terminal-'))).toBe(true);
    const other = await recordings.start(new FakeTerminal(clock, 'bbbbb'), { outputDir: '~' });
    expect(other.path.startsWith(join(dir.path, 'terminal-'))).toBe(true);
    await recordings[Symbol.asyncDispose]();
  });

  test('R-TERM-077: time begins when the recording does, and no command ends after it', async () => {
    const recordings = open();
    Object.assign(terminal, {
      sync: async () => clock.advance(300),
    });
    const { recordingId } = await recordings.start(terminal);
    clock.advance(1_000);
    terminal.run('make', 0);
    const late = clock.now() + 50;
    const now = clock.now.bind(clock);
    Object.assign(clock, { now: () => late });
    terminal.run('late', 0);
    Object.assign(clock, { now });
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

describe('why it ended (R-TERM-078)', () => {
  test('session_exit, with the exit code', async () => {
    const recordings = open();
    const end = finished(recordings);
    const { recordingId } = await recordings.start(terminal);
    terminal.print('bye');
    await terminal.end({ by: 'exit', code: 3 });
    expect(await end).toMatchObject({ recordingId, stopReason: 'session_exit', exitCode: 3, saved: true });
    await expect(recordings.stop(recordingId)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('max_duration', async () => {
    const recordings = open();
    const end = finished(recordings);
    await recordings.start(terminal, { maxDuration: 5, inactivityTimeout: 0 });
    clock.advance(4_999);
    expect(recordings.activeOf(terminal.id)).toBeDefined();
    clock.advance(1);
    expect(await end).toMatchObject({ stopReason: 'max_duration', exitCode: null, durationMs: 5_000 });
  });

  test('inactivity: only output counts as activity; 0 means never', async () => {
    const recordings = open();
    const end = finished(recordings);
    await recordings.start(terminal, { maxDuration: 0, inactivityTimeout: 10, input: true });
    clock.advance(9_000);
    terminal.print('x');
    clock.advance(9_000);
    terminal.type('y', true);
    expect(recordings.activeOf(terminal.id)).toBeDefined();
    clock.advance(1_000);
    expect(await end).toMatchObject({ stopReason: 'inactivity', durationMs: 19_000 });
    const endless = await open().start(terminal, { maxDuration: 0, inactivityTimeout: 0 });
    clock.advance(1e9);
    expect(endless.maxDuration).toBe(0);
    expect(terminal.listeners).toBeGreaterThan(0);
  });

  test('R-TERM-081 disk_full at the size limit, with a valid file', async () => {
    const recordings = open({ parts: { freeBytes: async () => 1e12, limits: { castBytes: 2_000 } } });
    const end = finished(recordings);
    await recordings.start(terminal);
    for (let i = 0; i < 100; i++) terminal.print('x'.repeat(100));
    const { path, ...result } = await end;
    expect(result).toMatchObject({ stopReason: 'disk_full', saved: true });
    expect((await stat(path)).size).toBeLessThanOrEqual(2_000);
    expect((await readLines(path)).length).toBeGreaterThan(10);
  });

  test('R-TERM-081 disk_full when space runs out, also at the start', async () => {
    let free = 1e12;
    const recordings = open({ parts: { freeBytes: async () => free } });
    const end = finished(recordings);
    await recordings.start(terminal);
    terminal.print('x');
    free = 199e6;
    clock.advance(1_000);
    expect(await end).toMatchObject({ stopReason: 'disk_full', saved: true });
    const next = finished(recordings);
    const started = await recordings.start(terminal);
    expect(started.message).toContain('too little room');
    expect(await next).toMatchObject({ stopReason: 'disk_full', recordingId: started.recordingId });
    expect(await readLines(started.path)).toHaveLength(1);
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
    const recordings = open({ parts: { freeBytes: async () => 1e12, open: openFailing } });
    const end = finished(recordings);
    const { path: wanted } = await recordings.start(terminal);
    terminal.print('good');
    clock.advance(1_000);
    await expect.poll(() => readFile(wanted.replace(/([^/]+)$/, '.$1.part'), 'utf8')).toContain('good');
    broken = true;
    for (let i = 0; i < 10; i++) terminal.print(`line ${i}`);
    clock.advance(1_000);
    const { path, stopReason } = await end;
    expect(stopReason).toBe('disk_full');
    const lines = await readLines(path);
    expect(lines[1]).toEqual([0, 'o', 'good']);
    terminal.print('later');
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
    const recordings = open({ parts: { freeBytes: async () => 1e12, open: stuck, limits } });
    await recordings.start(terminal);
    for (let i = 0; i < 100; i++) terminal.print('x'.repeat(65_536));
    expect(terminal.listeners).toBe(0);
    const end = finished(recordings);
    const before = performance.now();
    await recordings[Symbol.asyncDispose]();
    // R-TERM-081: shutdown waits two seconds at most, and the part file stays for `recover`.
    expect(performance.now() - before).toBeLessThan(2_500);
    expect((await readdir(dir.path)).some((name) => name.endsWith('.cast.part'))).toBe(true);
    clock.advance(10_000);
    expect(await end).toMatchObject({ saved: false, path: '', stopReason: 'disk_full' });
  });
});

describe('on-failure (R-TERM-079)', () => {
  const run = async (
    act: (recordings: Recordings, id: string) => Promise<unknown>,
  ): Promise<Record<string, unknown>> => {
    const recordings = open();
    const end = finished(recordings);
    const { recordingId } = await recordings.start(terminal, { mode: 'on-failure' });
    terminal.print('x');
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
    expect(await readdir(dir.path)).toEqual([]);
  });
  test('not kept when the shell exits with 0', async () => {
    expect(await run(() => terminal.end({ by: 'exit', code: 0 }))).toMatchObject({ saved: false, exitCode: 0 });
  });
  test.each([
    ['the shell failed', () => terminal.end({ by: 'exit', code: 1 })],
    ['the child was killed', () => terminal.end({ by: 'signal', signal: 'KILL' })],
    [
      'a command failed',
      async (recordings: Recordings, id: string) => {
        terminal.run('false', 1);
        terminal.run('true', 0);
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
  await mkdir(join(dir.path, 'x'));
  const recordings = open();
  terminal.shows = 'before';
  const starting = recordings.start(terminal);
  const { recordingId } = await starting;
  terminal.print('after');
  const { path } = await recordings.stop(recordingId);
  expect((await readLines(path)).slice(1).map((event) => (event as Event)[2])).toEqual(['before', 'after']);
});
