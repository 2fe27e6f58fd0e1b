import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readCast, readHeader } from '../../../src/engine/recording/cast/cast-reader.ts';
import { findRecording, listRecordings, removeRecording } from '../../../src/engine/recording/library.ts';
import { recoverRecordings } from '../../../src/engine/recording/recover.ts';
import { ownIdentity, writerState } from '../../../src/system/process-identity.ts';
import { events, Studio } from '../../support/recording.ts';

const at = new Studio();

/** A part file such as a process leaves that is killed in the middle of a line. */
async function leftBehind(writer: object, tail = '[0.5,"o","bro'): Promise<string> {
  const recordings = at.open();
  const { recordingId, path } = await recordings.start(at.terminal, { title: 'lost', mode: 'on-failure' });
  at.terminal.print('one');
  at.clock.advance(250);
  at.terminal.print('two');
  await recordings.stop(recordingId, { failed: true });
  const part = path.replace(/([^/]+)$/, '.$1.part');
  await rename(path, part);
  await rename(path.replace(/cast$/, 'meta.json'), part.replace(/cast\.part$/, 'writer.json'));
  const known = JSON.parse(await readFile(part.replace(/cast\.part$/, 'writer.json'), 'utf8')) as object;
  await writeFile(part.replace(/cast\.part$/, 'writer.json'), JSON.stringify({ writer, ...known }));
  await appendFile(part, tail);
  return recordingId;
}

const dead = { ...ownIdentity(), started: '1' };

describe('library (R-TERM-082)', () => {
  test('lists finished and unfinished recordings, newest first, with what is known of them', async () => {
    expect(await listRecordings(join(at.dir, 'missing'))).toEqual([]);
    const first = await at.recorded(() => at.terminal.print('a'));
    at.clock.advance(5000);
    const second = await leftBehind(dead);
    await writeFile(join(at.dir, 'notes.txt'), '');
    const entries = await listRecordings(at.dir);
    expect(entries.map(({ id, state, writer }) => ({ id, state, writer }))).toEqual([
      { id: second, state: 'unfinished', writer: 'dead' },
      { id: first.id, state: 'finished', writer: 'none' },
    ]);
    expect(entries[1]?.metadata).toMatchObject({ stopReason: 'explicit', sessionId: '0a1b2' });
    expect(entries[0]?.metadata).toMatchObject({ title: 'lost', mode: 'on-failure' });
  });

  test('finds by id, beginning, file name and path; shows; removes with all its files', async () => {
    const { id, path } = await at.recorded(() => at.terminal.print('a'));
    for (const wanted of [id, id.slice(0, 6), path, path.split('/').at(-1) as string]) {
      expect((await findRecording(at.dir, wanted)).path).toBe(path);
    }
    await expect(findRecording(at.dir, '../nothing')).rejects.toMatchObject({ code: 'not_found' });
    const { path: cast } = await findRecording(at.dir, id);
    expect((await readHeader(cast)).size).toEqual({ cols: 80, rows: 24 });
    await removeRecording(at.dir, id);
    expect(await readdir(at.dir)).toEqual([]);
  });

  test('a path to a file is taken whatever its name, but never removed', async () => {
    const { path } = await at.recorded(() => at.terminal.print('a'));
    const other = join(at.dir, 'demo.txt');
    await rename(path, other);
    await writeFile(join(at.dir, 'demo.cast'), 'precious');
    expect(await findRecording(join(at.dir, 'elsewhere'), other)).toMatchObject({ path: other, state: 'finished' });
    await expect(removeRecording(at.dir, other)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await readdir(at.dir)).toEqual(expect.arrayContaining(['demo.cast', 'demo.txt']));
    await expect(findRecording(at.dir, at.dir)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('one that is being made cannot be removed', async () => {
    const { recordingId } = await at.open().start(at.terminal);
    await expect(removeRecording(at.dir, recordingId)).rejects.toMatchObject({ code: 'conflict' });
    // The part file, its writer and how far it has come.
    expect(await readdir(at.dir)).toHaveLength(3);
  });
});

describe('recover (R-TERM-075)', () => {
  test('closes what a dead process left, up to the last whole line', async () => {
    const id = await leftBehind(dead);
    const [result] = await recoverRecordings(at.dir);
    expect(result).toMatchObject({ id, cut: 13 });
    expect(await events(await readCast(result?.path ?? ''))).toEqual([
      [0, 'o', 'one'],
      [250, 'o', 'two'],
    ]);
    const [entry] = await listRecordings(at.dir);
    expect(entry?.state).toBe('finished');
    expect(entry?.metadata).toMatchObject({
      stopReason: 'recovered',
      exitCode: null,
      castDurationMs: 250,
      title: 'lost',
      mode: 'on-failure',
      bytesWritten: entry?.bytes,
    });
    expect((await readdir(at.dir)).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(await recoverRecordings(at.dir)).toEqual([]);
  });

  test('R-TERM-077 what the shell told in the cast is in the metadata', async () => {
    const mark = (text: string): string => `\\u001b]133;${text}\\u0007`;
    const lines = [
      `[0.1,"o","${mark('D;3;n=1')}${mark('A;n=2')}$ ${mark('B;n=2')}"]`,
      '[0.5,"m","ls; false"]',
      `[0.5,"o","ls; false\\r\\n${mark('C;n=2')}a b\\r\\n"]`,
      `[0.75,"o","\\u001b]633;E;ls\\\\x3b false;n=2\\u0007${mark('D;1;n=2')}${mark('A;n=3')}$ "]`,
      '[1,"m","true"]',
      `[1,"o","true\\r\\n${mark('C;n=3')}"]`,
      `[1.5,"o","${mark('D;0;n=3')}${mark('A;n=4')}$ "]`,
      `[2,"o","${mark('C;n=4')}still running"]`,
    ];
    await leftBehind(dead, `${lines.join('\n')}\n`);
    const [recovered] = await recoverRecordings(at.dir);
    const { metadata } = await findRecording(at.dir, recovered?.id ?? '');
    expect(metadata.failed).toBe(true);
    expect(metadata.commands).toEqual([
      { command: null, exitCode: 3, startMs: 0, endMs: 100 },
      { command: 'ls; false', exitCode: 1, startMs: 500, endMs: 750 },
      { command: 'true', exitCode: 0, startMs: 1000, endMs: 1500 },
    ]);
  });

  test('leaves a living writer alone, and one out of sight unless told', async () => {
    await leftBehind(ownIdentity());
    const far = await leftBehind({ pid: 1, host: 'elsewhere' });
    const results = await recoverRecordings(at.dir);
    expect(results).toMatchObject([{ id: far, skipped: expect.stringContaining('force') as string }]);
    expect(await recoverRecordings(at.dir, { force: true })).toMatchObject([{ id: far, cut: 13 }]);
    expect((await readdir(at.dir)).filter((name) => name.endsWith('.cast.part'))).toHaveLength(1);
  });

  test('garbage at the end, as after a power cut, is dropped; a file with no header is left, an empty one removed', async () => {
    await leftBehind(dead, `${'\0'.repeat(4096)}\n[9,"o","x"]\n`);
    expect(await recoverRecordings(at.dir)).toMatchObject([{ cut: 4109 }]);
    await writeFile(join(at.dir, '.terminal-1-00000000000000aa.cast.part'), '');
    await writeFile(join(at.dir, '.terminal-2-00000000000000bb.cast.part'), 'nonsense');
    expect(await recoverRecordings(at.dir, { force: true })).toMatchObject([
      { id: '00000000000000bb', skipped: expect.stringContaining('not an asciicast') as string },
      { id: '00000000000000aa', path: '', bytes: 0 },
    ]);
    expect(await readdir(at.dir)).not.toContain('.terminal-1-00000000000000aa.cast.part');
  });

  test('who lives: this process; not one whose number was given away, nor one before the last boot', () => {
    const own = ownIdentity();
    expect(writerState(own)).toBe('alive');
    expect(writerState({ ...own, pid: 0x3fffff })).toBe('dead');
    expect(writerState({ ...own, host: `${hostname()}x` })).toBe('unknown');
    if (own.boot === undefined) return;
    expect(writerState({ ...own, started: '1' })).toBe('dead');
    expect(writerState({ ...own, boot: 'earlier' })).toBe('dead');
    expect(writerState({ ...own, namespace: 'pid:[1]' })).toBe('unknown');
  });

  test('after kill -9 of the writing process nothing older than its last flush is lost', async () => {
    const built = (name: string): string =>
      JSON.stringify(pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'dist', name)).href);
    const program = `
      import { Recordings } from ${built('engine/recording/recordings.js')};
      import { Emitter } from ${built('lib/emitter.js')};
      const output = new Emitter();
      const screen = { snapshot: () => '', pending: Buffer.alloc(0), size: { cols: 80, rows: 24 }, resized: new Emitter() };
      const [input, blocks] = [{ events: new Emitter() }, { events: new Emitter() }];
      const terminal = { id: 'aaaaa', identity: { program: 'sh' }, log: { end: 0 }, output, input, blocks, screen, state: {},
        whenEnded: new Promise(() => {}), sync: async () => {} };
      const recordings = new Recordings({ dir: ${JSON.stringify(at.dir)}, idleTimeLimit: 0, maxDuration: 0, inactivityTimeout: 0,
        parts: { freeBytes: async () => 1e12 } });
      await recordings.start(terminal);
      let n = 0;
      setInterval(() => {
        for (let i = 0; i < 50; i++) output.emit({ bytes: Buffer.from('line ' + n++ + '\\r\\n'), from: 0, atMs: performance.now() });
      }, 5);
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    try {
      const part = async (): Promise<string> =>
        (await readdir(at.dir)).find((name) => name.endsWith('.cast.part')) ?? '';
      await expect.poll(part).not.toBe('');
      const path = join(at.dir, await part());
      await expect.poll(() => readFile(path, 'utf8')).toContain('line 2000\\r');
      expect(await recoverRecordings(at.dir), 'its writer lives').toEqual([]);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const [result] = await recoverRecordings(at.dir);
    const text = (await events(await readCast(result?.path ?? ''))).map(([, , data]) => data).join('');
    const numbers = text.trim().split('\r\n');
    expect(numbers.length).toBeGreaterThan(2000);
    expect(numbers.every((line, index) => line === `line ${index}`)).toBe(true);
  });
});
