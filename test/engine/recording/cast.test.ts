import { execFileSync, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCast } from '../../../src/engine/recording/cast/cast-reader.ts';
import { exportMarkdown, exportText, type OpenTextScreen } from '../../../src/engine/recording/export/export.ts';
import { frames } from '../../../src/engine/recording/export/frames.ts';
import { listRecordings } from '../../../src/engine/recording/library.ts';
import type { RecordedCommand } from '../../../src/engine/recording/metadata.ts';
import { playCast } from '../../../src/engine/recording/export/play.ts';
import { events, Studio } from '../../support/recording.ts';

const at = new Studio();

describe('reading', () => {
  test.each(['v2', 'v3'] as const)('%s: what was recorded is what is read', async (format) => {
    const { path } = await at.recorded(() => {
      at.clock.advance(100);
      at.terminal.print('a');
      at.clock.advance(250);
      at.terminal.resizeTo({ cols: 90, rows: 20 });
      at.clock.advance(3000);
      at.terminal.print('b');
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

  test.each([true, false])('what was half received when it began is in it, whole (snapshot %s)', async (snapshot) => {
    const recordings = at.open();
    at.terminal.shows = snapshot ? 'shown' : '';
    at.terminal.screen.pending = new TextEncoder().encode('\x1b]2;漢').subarray(0, -1);
    const { recordingId } = await recordings.start(at.terminal, { snapshot });
    at.terminal.print(new TextEncoder().encode('漢').subarray(2));
    at.terminal.print('字\x07ok');
    const { path } = await recordings.stop(recordingId);
    const all = (await events(await readCast(path))).map(([, , data]) => data);
    expect(all).toEqual([...(snapshot ? ['shown'] : []), '\x1b]2;漢字\x07ok']);
  });

  test.each([
    ['version 1', '{"version":1,"width":80,"height":24}\n', 'unsupported'],
    ['no header', 'hello\n', 'invalid_input'],
    ['nothing', '', 'invalid_input'],
    ['a header without a size', '{"version":2}\n', 'invalid_input'],
  ])('%s is refused', async (_name, text, code) => {
    await writeFile(join(at.dir, 'x.cast'), text);
    await expect(readCast(join(at.dir, 'x.cast'))).rejects.toMatchObject({ code });
  });

  test('a broken line is an error with its number, unless the reader is lenient', async () => {
    const path = join(at.dir, 'x.cast');
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
          const { path } = await at.recorded(() => {
            let from = 0;
            for (const cut of cuts) {
              at.terminal.print(bytes.subarray(from, from + cut));
              from += cut;
              at.clock.advance(cut);
            }
            at.terminal.print(bytes.subarray(Math.min(from, bytes.length)));
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

describe('play', () => {
  test('at its pace, at another speed, with short pauses, and not after the signal', async () => {
    const { path } = await at.recorded(() => {
      at.terminal.print('a');
      at.clock.advance(4000);
      at.terminal.print('b');
      at.clock.advance(1000);
      at.terminal.print('c');
    });
    const run = async (options: { speed?: number; idleLimit?: number; from?: number }): Promise<[number, string][]> => {
      const start = at.clock.monotonic();
      const seen: [number, string][] = [];
      const { events: all } = await readCast(path);
      const playing = (async () => {
        for await (const text of playCast(all, { clock: at.clock, signal: new AbortController().signal, ...options })) {
          seen.push([at.clock.monotonic() - start, text]);
        }
      })();
      while (seen.length < 3) {
        await expect.poll(() => at.clock.timers > 0 || seen.length === 3, { interval: 1 }).toBe(true);
        at.clock.advance(100);
      }
      await playing;
      return seen;
    };
    expect(await run({})).toEqual([
      [0, 'a'],
      [4000, 'b'],
      [5000, 'c'],
    ]);
    expect(await run({ from: 3.5 }), 'what comes before is shown at once').toEqual([
      [0, 'a'],
      [500, 'b'],
      [1500, 'c'],
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
    for await (const text of playCast((await readCast(path)).events, { clock: at.clock, signal: ending.signal })) {
      seen.push(text);
      ending.abort();
    }
    expect(seen).toEqual(['a']);
    expect(at.clock.timers).toBe(0);
  });
});

describe('export', () => {
  /** Shows what it is fed without control sequences. */
  const screen: OpenTextScreen = () => {
    let text = '';
    return { feed: (more) => (text += more), resize: () => {}, text: () => text.replace(/\x1b\][^\x07]*\x07|\r/g, '') };
  };
  test('text is what the screen shows at the end', async () => {
    const { path } = await at.recorded(() => at.terminal.print('a\r\nb\r\n\r\n'));
    expect(await exportText(await readCast(path), screen)).toBe('a\nb\n');
  });
  test('markdown has a section per command, without the prompt that follows', async () => {
    const { path } = await at.recorded(() => {
      at.terminal.print('$ ls\r\n');
      at.terminal.run('ls `x`', 0);
      at.terminal.print('file\r\n```\r\n\x1b]133;D;0\x07$ ');
      at.terminal.run('false', 1);
      at.terminal.print('\x1b]133;D;1\x07$ ');
    });
    const [entry] = await listRecordings(at.dir);
    const text = await exportMarkdown(await readCast(path), screen, entry?.metadata);
    expect(text).toContain('## 1. `` ls `x` ``\n\n> exit: 0\n\n````text\nfile\n```\n````\n');
    expect(text).toContain('## 2. `false`\n\n> exit: 1\n');
    expect(text).not.toContain('$ ');
  });
  test('markdown takes exit codes from the output, also when a command began before the recording', async () => {
    const { path } = await at.recorded(() => {
      at.terminal.finish('sleep 5; false', 1);
      at.terminal.run('ls');
      at.terminal.print('early\r\n\x1b]133;D;1\x07\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07file\r\n');
      at.terminal.run('grep');
      at.terminal.print('more\r\n\x1b]133;D;0\x07\x1b]133;A\x07$ \x1b]133;B\x07grep\r\n\x1b]133;C\x07');
      at.terminal.print('none\r\n\x1b]133;D;2\x07\x1b]133;A\x07$ ');
      at.terminal.run('cat');
      at.terminal.print('cat\r\n\x1b]133;C\x07still');
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
    const { path } = await at.recorded(() => {
      at.terminal.run('a');
      at.terminal.print('1\r\n');
      at.terminal.run('b');
      at.terminal.print('2\r\n');
    });
    const two = { commands: [{ exitCode: 3 }, { exitCode: 4 }] as RecordedCommand[] };
    const text = await exportMarkdown(await readCast(path), screen, two);
    expect(text).toContain('## 1. `a`\n\n> exit: 3\n\n```text\n1\n```\n');
    expect(text).toContain('## 2. `b`\n\n> exit: 4\n\n```text\n2\n```\n');
    const one = { commands: [{ exitCode: 3 }] as RecordedCommand[] };
    expect(await exportMarkdown(await readCast(path), screen, one)).not.toContain('exit:');
  });
  test('markdown without markers is one block', async () => {
    const { path } = await at.recorded(() => at.terminal.print('hello\r\n'));
    expect(await exportMarkdown(await readCast(path), screen)).toContain('```text\nhello\n```\n');
  });
  test('frames: one per change up to the frame rate, pauses cut, the last one stands', async () => {
    const { path } = await at.recorded(() => {
      for (let i = 0; i < 10; i++) {
        at.terminal.print(String(i));
        at.clock.advance(20);
      }
      at.clock.advance(9_820);
      at.terminal.resizeTo({ cols: 90, rows: 20 });
      at.clock.advance(500);
      at.terminal.print('x');
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
  const { path } = await at.recorded(() => {
    for (const byte of new TextEncoder().encode(output)) {
      at.terminal.print(Uint8Array.of(byte));
      at.clock.advance(1);
    }
    at.terminal.run('true', 0);
    at.terminal.resizeTo({ cols: 90, rows: 20 });
  });
  // It wants a terminal even when its output goes to a file.
  execFileSync('script', ['-qec', `asciinema cat ${path} > ${at.dir}/printed`, '/dev/null'], { stdio: 'ignore' });
  expect(await readFile(join(at.dir, 'printed'), 'utf8')).toBe(output);
});
