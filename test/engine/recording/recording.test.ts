import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FairleadError } from '../../../src/contract/errors.ts';
import type { RecordingMetadata } from '../../../src/engine/recording/metadata.ts';
import type { StartOptions } from '../../../src/engine/recording/recordings.ts';
import {
  type CastEvent,
  type CastLines,
  FakeTerminal,
  finished,
  readLines,
  readMeta,
  Studio,
} from '../../support/recording.ts';

const at = new Studio();

async function record(
  options: StartOptions,
  act: () => void | Promise<void>,
): Promise<{ lines: CastLines; meta: RecordingMetadata }> {
  const recordings = at.open();
  const { recordingId } = await recordings.start(at.terminal, options);
  await act();
  const { path } = await recordings.stop(recordingId);
  return { lines: await readLines(path), meta: await readMeta(path) };
}

describe('start and stop', () => {
  test('R-TERM-070 R-TERM-076: the answers have the shapes of the page, and more', async () => {
    const recordings = at.open();
    const started = await recordings.start(at.terminal);
    expect(started).toEqual({
      recordingId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      path: join(at.dir, `terminal-1700000000000-${started.recordingId}.cast`),
      format: 'v2',
      mode: 'always',
      maxDuration: 3600,
      inactivityTimeout: 600,
      sessionId: '0a1b2',
    });
    expect(Object.keys(started).slice(0, 4)).toEqual(['recordingId', 'path', 'format', 'mode']);
    expect(recordings.activeOf('0a1b2')).toBe(started.recordingId);
    at.clock.advance(62_186);
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
    expect(at.terminal.listeners).toBe(0);
    expect(at.clock.timers).toBe(0);
  });

  test('R-TERM-071: one recording per session; the second is told of the first, also at the same moment', async () => {
    const recordings = at.open();
    const [first, second] = await Promise.allSettled([recordings.start(at.terminal), recordings.start(at.terminal)]);
    expect(first.status).toBe('fulfilled');
    const error = (second as PromiseRejectedResult).reason as FairleadError;
    expect(error).toBeInstanceOf(FairleadError);
    expect(error.code).toBe('conflict');
    expect(error.message).toBe('A recording is already in progress');
    const started = (first as PromiseFulfilledResult<{ recordingId: string; path: string }>).value;
    expect(error.data).toEqual({ activeRecordingId: started.recordingId, activePath: started.path });
  });

  test('R-TERM-071: sessions are recorded side by side, each with its own bytes', async () => {
    const recordings = at.open();
    const other = new FakeTerminal(at.clock, 'ffff0');
    const { recordings: all } = await recordings.startAll([at.terminal, other]);
    at.terminal.print('mine');
    other.print('yours');
    const results = await Promise.all(all.map(({ recordingId }) => recordings.stop(recordingId)));
    const texts = await Promise.all(results.map(({ path }) => readFile(path, 'utf8')));
    expect(texts.map((text) => [text.includes('mine'), text.includes('yours')])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  test('R-TERM-080: a second stop says so, with the result; an unknown id too; after an hour it is forgotten', async () => {
    const recordings = at.open();
    const { recordingId } = await recordings.start(at.terminal);
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
    at.clock.advance(3_599_000);
    await expect(recordings.stop(recordingId)).rejects.toMatchObject({ code: 'conflict' });
    at.clock.advance(1_001);
    await expect(recordings.stop(recordingId)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('R-TERM-081: a recording by the server does not stand in the way of one that is asked for', async () => {
    const recordings = at.open({ auto: 'always' });
    const auto = await recordings.autoStart(at.terminal);
    const asked = await recordings.start(at.terminal);
    expect(asked.recordingId).not.toBe(auto?.recordingId);
    expect(recordings.active).toHaveLength(2);
    expect(await at.open({ auto: 'off' }).autoStart(at.terminal)).toBeUndefined();
    await recordings[Symbol.asyncDispose]();
    const names = await readdir(at.dir);
    expect(names.filter((name) => name.endsWith('.cast'))).toHaveLength(2);
    expect((await readMeta(asked.path)).stopReason).toBe('server_shutdown');
    await expect(recordings.start(at.terminal)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('what is written', () => {
  test('R-TERM-072 R-TERM-073: header, output, sizes, times', async () => {
    const { lines, meta } = await record({ title: 'A demo' }, () => {
      at.clock.advance(10_000);
      at.terminal.print('a');
      at.clock.advance(250);
      at.terminal.resizeTo({ cols: 100, rows: 30 });
      at.clock.advance(5_000);
      at.terminal.print('b');
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
      for (const byte of bytes) at.terminal.print(Uint8Array.of(byte));
      at.terminal.print(Uint8Array.of(0xff, 0x41));
      at.terminal.print(Uint8Array.of(0xe2, 0x82));
    });
    expect(lines.slice(1).map((event) => (event as CastEvent)[2])).toEqual(['é', '👍', '\ufffdA', '\ufffd']);
  });

  test('R-TERM-074: the first frame is the screen as it is, unless unwanted', async () => {
    at.terminal.shows = '$ vim\x1b[H';
    const shown = await record({}, () => at.terminal.print('x'));
    expect(shown.lines.slice(1)).toEqual([
      [0, 'o', '$ vim\x1b[H'],
      [0, 'o', 'x'],
    ]);
    const bare = await record({ snapshot: false }, () => at.terminal.print('x'));
    expect(bare.lines.slice(1)).toEqual([[0, 'o', 'x']]);
  });

  test('R-TERM-070: input only when asked for, never without echo, and where that is unknown only what came out', async () => {
    const act = (): void => {
      at.terminal.type('ls\r', true);
      at.terminal.type('hunter2\r', false);
      at.terminal.type('secret sauce\r', undefined);
      at.terminal.print('\r\nwelcome\r\n$ ');
      at.terminal.type('make test', undefined);
      at.terminal.print('make test');
    };
    const inputs = async (options: StartOptions): Promise<string[]> =>
      (await record(options, act)).lines.flatMap((event) =>
        (event as CastEvent)[1] === 'i' ? [(event as CastEvent)[2]] : [],
      );
    expect(await inputs({ input: true })).toEqual(['ls\r', '\r', 'make test']);
    expect(await inputs({})).toEqual([]);
  });

  test.each([false, true])('R-TERM-070: a line that was entered comes before its echo (redact %s)', async (redact) => {
    const { lines } = await record({ input: true, redact }, () => {
      at.terminal.type('make test\r', undefined);
      at.clock.advance(10);
      at.terminal.print('make test\r\n');
    });
    expect(lines.slice(1)).toEqual([
      [0, 'i', 'make test'],
      [0, 'i', '\r'],
      [0.01, 'o', 'make test\r\n'],
    ]);
  });

  test('R-TERM-070 R-TERM-077: markers at each command, and commands in the metadata', async () => {
    const { lines, meta } = await record({ markers: true }, () => {
      at.clock.advance(1000);
      at.terminal.run('make', 2);
      at.terminal.run('sleep 9');
    });
    expect(lines.slice(1)).toEqual([
      [1, 'm', 'make'],
      [1, 'm', 'sleep 9'],
    ]);
    expect(meta.commands).toEqual([{ command: 'make', exitCode: 2, startMs: 1000, endMs: 1000 }]);
    expect((await record({}, () => at.terminal.run('make', 0))).lines).toHaveLength(1);
  });

  test('v3: intervals and the exit status', async () => {
    const recordings = at.open();
    const end = finished(recordings);
    await recordings.start(at.terminal, { format: 'v3' });
    at.clock.advance(500);
    at.terminal.print('a');
    at.clock.advance(500);
    at.terminal.print('b');
    await at.terminal.end({ by: 'signal', signal: 'KILL' });
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
      at.terminal.print('$ ');
      at.clock.advance(1000);
      for (const char of `echo ${secret}`) {
        at.terminal.type(char, true);
        at.terminal.print(char);
      }
      at.clock.advance(1000);
      at.terminal.type('\r', true);
      at.terminal.run(`echo ${secret}`, 0);
      at.terminal.print(`\r\n${secret.slice(0, 11)}`);
      at.clock.advance(1000);
      at.terminal.print(`${secret.slice(11)}\r\n$ `);
    });
    const text = JSON.stringify([lines, meta]);
    expect(text).not.toContain(secret.slice(4, 20));
    expect(text).not.toContain(secret.slice(-12));
    const events = lines.slice(1) as CastEvent[];
    expect(events[0]).toEqual([0, 'o', '$ ']);
    expect(events[1]).toEqual([1, 'o', 'e']);
    const shown = events.filter(([, code]) => code === 'o').map(([, , data]) => data);
    expect(shown.join('').replace(/<redacted:[0-9a-f]{8}>/g, '‹›')).toBe('$ echo ‹›\r\n‹›\r\n$ ');
    expect(events.at(-1)?.[0]).toBe(3);
    expect(meta.redactions).toBeGreaterThanOrEqual(5);
  });

  test('R-TERM-074: the first frame is one event also where secrets are masked, and a secret that ends after it is, too', async () => {
    const secret = ['ghp', '_16C7e42F292c6912E7710c838347Ae178B4a'].join('');
    at.terminal.shows = `$ echo ${secret}\r\n${secret}\r\n\x1b[1mbold\x1b[0m\r\n$ echo ${secret}`;
    const { lines, meta } = await record({ redact: true }, () => at.terminal.print('9z\r\nnext\r\n'));
    const [first, ...more] = (lines.slice(1) as CastEvent[]).map(([, , data]) => data);
    const masked = (text = ''): string => text.replace(/<redacted:[0-9a-f]{8}>/g, '‹›');
    expect(masked(first)).toBe('$ echo ‹›\r\n‹›\r\n\x1b[1mbold\x1b[0m\r\n$ echo ‹›');
    expect(more.join('')).not.toContain(secret.slice(4));
    expect(masked(more.join(''))).toContain('next');
    expect(meta.redactions).toBe(3);
  });

  test('R-TERM-077: all keys of the metadata', async () => {
    const { meta, lines } = await record({ title: 't' }, () => at.terminal.print('x'));
    expect(lines).toHaveLength(2);
    const observed = ['exitCode', 'durationMs', 'startTime', 'endTime', 'bytesWritten', 'stopReason'];
    const added =
      'program recordingId sessionId mode castDurationMs cols rows title failed commands redactions masked format'.split(
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
