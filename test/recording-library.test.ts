import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CastReading, readCast } from '../src/engine/recording/cast-reader.ts';
import { exportMarkdown, exportText, type OpenTextScreen } from '../src/engine/recording/export.ts';
import { frames } from '../src/engine/recording/frames.ts';
import { findRecording, listRecordings, removeRecording, showRecording } from '../src/engine/recording/library.ts';
import type { RecordedCommand } from '../src/engine/recording/metadata.ts';
import { play } from '../src/engine/recording/play.ts';
import { Recordings } from '../src/engine/recording/recordings.ts';
import { recoverRecordings } from '../src/engine/recording/recover.ts';
import { ownIdentity, writerState } from '../src/engine/process-identity.ts';
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

const open = (): Recordings =>
  new Recordings({
    dir: dir.path,
    idleTimeLimit: 0,
    maxDuration: 0,
    inactivityTimeout: 0,
    clock,
    parts: { freeBytes: async () => 1e12 },
  });

async function recorded(act: () => void, format: 'v2' | 'v3' = 'v2'): Promise<{ id: string; path: string }> {
  const recordings = open();
  const { recordingId } = await recordings.start(terminal, { format, markers: true });
  act();
  const { path } = await recordings.stop(recordingId);
  return { id: recordingId, path };
}

/** A part file such as a process leaves that is killed in the middle of a line. */
async function leftBehind(writer: object, tail = '[0.5,"o","bro'): Promise<string> {
  const recordings = open();
  const { recordingId, path } = await recordings.start(terminal, { title: 'lost', mode: 'on-failure' });
  terminal.print('one');
  clock.advance(250);
  terminal.print('two');
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
const events = async (cast: CastReading): Promise<[number, string, string][]> => {
  const all: [number, string, string][] = [];
  for await (const { atMs, code, data } of cast.events) all.push([Math.round(atMs * 1000) / 1000, code, data]);
  return all;
};

describe('reading', () => {
  test.each(['v2', 'v3'] as const)('%s: what was recorded is what is read', async (format) => {
    const { path } = await recorded(() => {
      clock.advance(100);
      terminal.print('a');
      clock.advance(250);
      terminal.resizeTo({ cols: 90, rows: 20 });
      clock.advance(3000);
      terminal.print('b');
    }, format);
    const cast = await readCast(path);
    expect(cast.info).toMatchObject({
      version: format === 'v2' ? 2 : 3,
      size: { cols: 80, rows: 24 },
      timestamp: 1_700_000_000,
    });
    expect(await events(cast)).toEqual([
      [100, 'o', 'a'],
      [350, 'r', '90x20'],
      [3350, 'o', 'b'],
    ]);
  });

  test.each([
    ['version 1', '{"version":1,"width":80,"height":24}\n', 'unsupported'],
    ['no header', 'hello\n', 'invalid_input'],
    ['nothing', '', 'invalid_input'],
    ['a header without a size', '{"version":2}\n', 'invalid_input'],
  ])('%s is refused', async (_name, text, code) => {
    await writeFile(join(dir.path, 'x.cast'), text);
    await expect(readCast(join(dir.path, 'x.cast'))).rejects.toMatchObject({ code });
  });

  test('a broken line is an error with its number, unless the reader is lenient', async () => {
    const path = join(dir.path, 'x.cast');
    await writeFile(path, '{"version":2,"width":80,"height":24}\n[1,"o","a"]\n[2,"o"\n[3,"o","c"]\n');
    await expect(readCast(path).then(events)).rejects.toThrow('line 3');
    expect(await events(await readCast(path, { lenient: true }))).toEqual([[1000, 'o', 'a']]);
  });

  test('property: however the bytes came, the cast plays them back', async () => {
    const text = fc.array(
      fc.oneof(fc.string({ unit: 'grapheme', maxLength: 8 }), fc.constantFrom('\x1b[31m', '\x1b]0;é\x07', '\x1b')),
    );
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.array(fc.nat(9), { maxLength: 40 }),
        fc.constantFrom('v2' as const, 'v3' as const),
        async (parts, cuts, format) => {
          const bytes = new TextEncoder().encode(parts.join(''));
          const { path } = await recorded(() => {
            let at = 0;
            for (const cut of cuts) {
              terminal.print(bytes.subarray(at, at + cut));
              at += cut;
              clock.advance(cut);
            }
            terminal.print(bytes.subarray(Math.min(at, bytes.length)));
          }, format);
          const played = (await events(await readCast(path)))
            .filter(([, code]) => code === 'o')
            .map(([, , data]) => data);
          expect(played.join('')).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('library (R-TERM-082)', () => {
  test('lists finished and unfinished recordings, newest first, with what is known of them', async () => {
    expect(await listRecordings(join(dir.path, 'missing'))).toEqual([]);
    const first = await recorded(() => terminal.print('a'));
    clock.advance(5000);
    const second = await leftBehind(dead);
    await writeFile(join(dir.path, 'notes.txt'), '');
    const entries = await listRecordings(dir.path);
    expect(entries.map(({ id, state, writer }) => ({ id, state, writer }))).toEqual([
      { id: second, state: 'unfinished', writer: 'dead' },
      { id: first.id, state: 'finished', writer: 'none' },
    ]);
    expect(entries[1]?.metadata).toMatchObject({ stopReason: 'explicit', sessionId: '0a1b2' });
    expect(entries[0]?.metadata).toMatchObject({ title: 'lost', mode: 'on-failure' });
  });

  test('finds by id, beginning, file name and path; shows; removes with all its files', async () => {
    const { id, path } = await recorded(() => terminal.print('a'));
    for (const wanted of [id, id.slice(0, 6), path, path.split('/').at(-1) as string]) {
      expect((await findRecording(dir.path, wanted)).path).toBe(path);
    }
    await expect(findRecording(dir.path, '../nothing')).rejects.toMatchObject({ code: 'not_found' });
    expect((await showRecording(dir.path, id)).cast.size).toEqual({ cols: 80, rows: 24 });
    await removeRecording(dir.path, id);
    expect(await readdir(dir.path)).toEqual([]);
  });

  test('a path to a file is taken whatever its name, but never removed', async () => {
    const { path } = await recorded(() => terminal.print('a'));
    const other = join(dir.path, 'demo.txt');
    await rename(path, other);
    await writeFile(join(dir.path, 'demo.cast'), 'precious');
    expect(await findRecording(join(dir.path, 'elsewhere'), other)).toMatchObject({ path: other, state: 'finished' });
    await expect(removeRecording(dir.path, other)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await readdir(dir.path)).toEqual(expect.arrayContaining(['demo.cast', 'demo.txt']));
    await expect(findRecording(dir.path, dir.path)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('one that is being made cannot be removed', async () => {
    const { recordingId } = await open().start(terminal);
    await expect(removeRecording(dir.path, recordingId)).rejects.toMatchObject({ code: 'conflict' });
    expect(await readdir(dir.path)).toHaveLength(2);
  });
});

describe('recover (R-TERM-075)', () => {
  test('closes what a dead process left, up to the last whole line', async () => {
    const id = await leftBehind(dead);
    const [result] = await recoverRecordings(dir.path);
    expect(result).toMatchObject({ id, cut: 13 });
    expect(await events(await readCast(result?.path ?? ''))).toEqual([
      [0, 'o', 'one'],
      [250, 'o', 'two'],
    ]);
    const [entry] = await listRecordings(dir.path);
    expect(entry?.state).toBe('finished');
    expect(entry?.metadata).toMatchObject({
      stopReason: 'recovered',
      exitCode: null,
      castDurationMs: 250,
      title: 'lost',
      mode: 'on-failure',
      bytesWritten: entry?.bytes,
    });
    expect((await readdir(dir.path)).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(await recoverRecordings(dir.path)).toEqual([]);
  });

  test('leaves a living writer alone, and one out of sight unless told', async () => {
    await leftBehind(ownIdentity());
    const far = await leftBehind({ pid: 1, host: 'elsewhere' });
    const results = await recoverRecordings(dir.path);
    expect(results).toMatchObject([{ id: far, skipped: expect.stringContaining('force') as string }]);
    expect(await recoverRecordings(dir.path, { force: true })).toMatchObject([{ id: far, cut: 13 }]);
    expect((await readdir(dir.path)).filter((name) => name.endsWith('.cast.part'))).toHaveLength(1);
  });

  test('garbage at the end, as after a power cut, is dropped; a file with no header is left, an empty one removed', async () => {
    await leftBehind(dead, `${'\0'.repeat(4096)}\n[9,"o","x"]\n`);
    expect(await recoverRecordings(dir.path)).toMatchObject([{ cut: 4109 }]);
    await writeFile(join(dir.path, '.terminal-1-00000000000000aa.cast.part'), '');
    await writeFile(join(dir.path, '.terminal-2-00000000000000bb.cast.part'), 'nonsense');
    expect(await recoverRecordings(dir.path, { force: true })).toMatchObject([
      { id: '00000000000000bb', skipped: expect.stringContaining('not an asciicast') as string },
      { id: '00000000000000aa', path: '', bytes: 0 },
    ]);
    expect(await readdir(dir.path)).not.toContain('.terminal-1-00000000000000aa.cast.part');
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
      JSON.stringify(pathToFileURL(join(import.meta.dirname, '..', 'dist', name)).href);
    const program = `
      import { Recordings } from ${built('engine/recording/recordings.js')};
      import { Emitter } from ${built('lib/emitter.js')};
      const output = new Emitter();
      const terminal = { id: 'aaaaa', size: { cols: 80, rows: 24 }, program: 'sh', output, input: new Emitter(), resized: new Emitter(),
        block: new Emitter(), whenEnded: new Promise(() => {}), sync: async () => {}, screen: { snapshot: () => '' } };
      const recordings = new Recordings({ dir: ${JSON.stringify(dir.path)}, idleTimeLimit: 0, maxDuration: 0, inactivityTimeout: 0,
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
        (await readdir(dir.path)).find((name) => name.endsWith('.cast.part')) ?? '';
      await expect.poll(part, { timeout: 10_000 }).not.toBe('');
      const path = join(dir.path, await part());
      await expect.poll(() => readFile(path, 'utf8'), { timeout: 10_000 }).toContain('line 2000\\r');
      expect(await recoverRecordings(dir.path), 'its writer lives').toEqual([]);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const [result] = await recoverRecordings(dir.path);
    const text = (await events(await readCast(result?.path ?? ''))).map(([, , data]) => data).join('');
    const numbers = text.trim().split('\r\n');
    expect(numbers.length).toBeGreaterThan(2000);
    expect(numbers.every((line, index) => line === `line ${index}`)).toBe(true);
  });
});

describe('play', () => {
  test('at its pace, at another speed, with short pauses, and not after the signal', async () => {
    const { path } = await recorded(() => {
      terminal.print('a');
      clock.advance(4000);
      terminal.print('b');
      clock.advance(1000);
      terminal.print('c');
    });
    const run = async (options: { speed?: number; idleLimit?: number }): Promise<[number, string][]> => {
      const start = clock.monotonic();
      const seen: [number, string][] = [];
      const { events: all } = await readCast(path);
      const playing = (async () => {
        for await (const text of play(all, { clock, signal: new AbortController().signal, ...options })) {
          seen.push([clock.monotonic() - start, text]);
        }
      })();
      while (seen.length < 3) {
        await expect.poll(() => clock.timers > 0 || seen.length === 3, { interval: 1 }).toBe(true);
        clock.advance(100);
      }
      await playing;
      return seen;
    };
    expect(await run({})).toEqual([
      [0, 'a'],
      [4000, 'b'],
      [5000, 'c'],
    ]);
    expect(await run({ speed: 2 })).toEqual([
      [0, 'a'],
      [2000, 'b'],
      [2500, 'c'],
    ]);
    expect(await run({ idleLimit: 0.5 })).toEqual([
      [0, 'a'],
      [500, 'b'],
      [1000, 'c'],
    ]);
    const ending = new AbortController();
    const seen: string[] = [];
    for await (const text of play((await readCast(path)).events, { clock, signal: ending.signal })) {
      seen.push(text);
      ending.abort();
    }
    expect(seen).toEqual(['a']);
    expect(clock.timers).toBe(0);
  });
});

describe('export', () => {
  /** Shows what it is fed without control sequences. */
  const screen: OpenTextScreen = () => {
    let text = '';
    return { feed: (more) => (text += more), resize: () => {}, text: () => text.replace(/\x1b\][^\x07]*\x07|\r/g, '') };
  };
  test('text is what the screen shows at the end', async () => {
    const { path } = await recorded(() => terminal.print('a\r\nb\r\n\r\n'));
    expect(await exportText(await readCast(path), screen)).toBe('a\nb\n');
  });
  test('markdown has a section per command, without the prompt that follows', async () => {
    const { path } = await recorded(() => {
      terminal.print('$ ls\r\n');
      terminal.run('ls `x`', 0);
      terminal.print('file\r\n```\r\n\x1b]133;D;0\x07$ ');
      terminal.run('false', 1);
      terminal.print('\x1b]133;D;1\x07$ ');
    });
    const [entry] = await listRecordings(dir.path);
    const text = await exportMarkdown(await readCast(path), screen, entry?.metadata);
    expect(text).toContain('## 1. `` ls `x` ``\n\n> exit: 0\n\n````text\nfile\n```\n````\n');
    expect(text).toContain('## 2. `false`\n\n> exit: 1\n');
    expect(text).not.toContain('$ ');
  });
  test('markdown takes exit codes from the output, also when a command began before the recording', async () => {
    const { path } = await recorded(() => {
      terminal.finish('sleep 5; false', 1);
      terminal.run('ls');
      terminal.print('early\r\n\x1b]133;D;1\x07\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07file\r\n');
      terminal.run('grep');
      terminal.print('more\r\n\x1b]133;D;0\x07\x1b]133;A\x07$ \x1b]133;B\x07grep\r\n\x1b]133;C\x07');
      terminal.print('none\r\n\x1b]133;D;2\x07\x1b]133;A\x07$ ');
      terminal.run('cat');
      terminal.print('cat\r\n\x1b]133;C\x07still');
    });
    const commands = [{ exitCode: 1 }, { exitCode: 0 }, { exitCode: 2 }] as RecordedCommand[];
    const text = await exportMarkdown(await readCast(path), screen, { commands });
    expect(text.slice(text.indexOf('##'))).toBe(
      '## 1. `ls`\n\n> exit: 0\n\n```text\nfile\nmore\n```\n\n' +
        '## 2. `grep`\n\n> exit: 2\n\n```text\nnone\n```\n\n' +
        '## 3. `cat`\n\n```text\nstill\n```\n',
    );
  });
  test('markdown of markers without shell marks: codes from the metadata when each section has one', async () => {
    const { path } = await recorded(() => {
      terminal.run('a');
      terminal.print('1\r\n');
      terminal.run('b');
      terminal.print('2\r\n');
    });
    const two = { commands: [{ exitCode: 3 }, { exitCode: 4 }] as RecordedCommand[] };
    const text = await exportMarkdown(await readCast(path), screen, two);
    expect(text).toContain('## 1. `a`\n\n> exit: 3\n\n```text\n1\n```\n');
    expect(text).toContain('## 2. `b`\n\n> exit: 4\n\n```text\n2\n```\n');
    const one = { commands: [{ exitCode: 3 }] as RecordedCommand[] };
    expect(await exportMarkdown(await readCast(path), screen, one)).not.toContain('exit:');
  });
  test('markdown without markers is one block', async () => {
    const { path } = await recorded(() => terminal.print('hello\r\n'));
    expect(await exportMarkdown(await readCast(path), screen)).toContain('```text\nhello\n```\n');
  });
  test('frames: one per change up to the frame rate, pauses cut, the last one stands', async () => {
    const { path } = await recorded(() => {
      for (let i = 0; i < 10; i++) {
        terminal.print(String(i));
        clock.advance(20);
      }
      clock.advance(9_820);
      terminal.resizeTo({ cols: 90, rows: 20 });
      clock.advance(500);
      terminal.print('x');
    });
    let text = '';
    const film = { feed: (more: string) => (text += more), resize: () => (text += 'R'), picture: () => text };
    const all = [];
    for await (const { picture, atMs, durationMs } of frames(await readCast(path), film, { fps: 10, idle: 2 })) {
      all.push([picture, Math.round(atMs), Math.round(durationMs)]);
    }
    expect(all).toEqual([
      ['01234', 0, 100],
      ['0123456789', 100, 2080],
      ['0123456789R', 2180, 500],
      ['0123456789Rx', 2680, 2000],
    ]);
  });
});

const hasAsciinema = ['asciinema', 'script'].every((name) => spawnSync(name, ['--version']).status === 0);
test.runIf(hasAsciinema)('R-TERM-082: asciinema prints exactly what was recorded', async () => {
  const output = 'plain\r\n\x1b[31mré日本👍\x1b[0m\r\n\u2028\x00\x07\x1b]0;t\x07end\r\n';
  const { path } = await recorded(() => {
    for (const byte of new TextEncoder().encode(output)) {
      terminal.print(Uint8Array.of(byte));
      clock.advance(1);
    }
    terminal.run('true', 0);
    terminal.resizeTo({ cols: 90, rows: 20 });
  });
  // It wants a terminal even when its output goes to a file.
  execFileSync('script', ['-qec', `asciinema cat ${path} > ${dir.path}/printed`, '/dev/null'], { stdio: 'ignore' });
  expect(await readFile(join(dir.path, 'printed'), 'utf8')).toBe(output);
});
