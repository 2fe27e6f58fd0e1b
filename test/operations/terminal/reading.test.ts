import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cpuTimerOf } from '../../support/clocks/cpu-timer.ts';
import { Mcp } from '../../support/mcp-client.ts';

interface Read {
  readonly content: string;
  readonly marker: string;
  readonly altScreen: boolean;
  readonly omittedLines: number;
  readonly sinceLost?: boolean;
  readonly matched?: boolean;
  readonly exitCode?: number | null;
  readonly command?: string;
  readonly status: string;
}

describe('reading', () => {
  test('R-TERM-050: 1 MiB printed and read at once ends with its last line', async () => {
    await using mcp = await Mcp.start();
    for (let round = 0; round < 5; round++) {
      const end = randomBytes(8).toString('hex');
      const print = `head -c 1048576 /dev/zero | tr '\\0' x | fold -w 100; echo; echo ${end.slice(0, 8)}""${end.slice(8)}`;
      await mcp.call('type', { text: `${print}; touch printed-${round}` });
      await mcp.call('sendKey', { key: 'Enter' });
      // From the moment on that all of it is printed, whatever of it has been read.
      await expect.poll(() => existsSync(join(mcp.home, `printed-${round}`)), { interval: 1 }).toBe(true);
      expect(await mcp.text('getContent')).toMatch(new RegExp(`\\n${end}(\\n|$)`));
    }
  });

  test('R-TERM-051: long lines come whole, rows on request; trailing blank lines are trimmed', async () => {
    await using mcp = await Mcp.start({ args: ['--cols', '20'] });
    await mcp.run("clear; printf '%s\\n\\n\\n' 0123456789012345678901234567890123456789");
    const whole = await mcp.text('getContent');
    expect(whole).toContain('0123456789012345678901234567890123456789');
    expect(whole.endsWith('\n')).toBe(false);
    expect(await mcp.text('getContent', { wrap: 'keep' })).toContain('01234567890123456789\n01234567890123456789');
    const visible = await mcp.text('getContent', { visibleOnly: true });
    expect(visible).toContain('01234567890123456789\n01234567890123456789');
    expect(visible.endsWith('\n')).toBe(false);
  });

  test('R-TERM-051: the alternate screen stands alone', async () => {
    await using mcp = await Mcp.start();
    await mcp.run('echo before');
    await mcp.call('type', { text: "printf '\\033[?1049h\\033[Hfull'' screen'; sleep 60", submit: true });
    const read = await mcp.facts<Read>('getContent', { waitFor: 'full screen', timeoutMs: 20_000 });
    expect(read).toMatchObject({ altScreen: true, matched: true });
    expect(read.content).not.toContain('before');
  });

  test('R-TERM-052: since, maxLines, lastCommand, waitFor', async () => {
    await using mcp = await Mcp.start();
    await mcp.run('echo one');
    const first = await mcp.facts<Read>('getContent');
    expect(await mcp.run('echo two; (exit 4)')).toMatchObject({
      content: 'two',
      exitCode: 4,
      command: 'echo two; (exit 4)',
    });
    const second = await mcp.facts<Read>('getContent', { since: first.marker });
    expect(second.content).toContain('two');
    expect(second.content).not.toContain('one');
    expect(await mcp.text('getContent', { lastCommand: true })).toBe('(exit code 4)\ntwo');
    const last = await mcp.facts<Read>('getContent', { maxLines: 2 });
    expect(last.content.split('\n')).toHaveLength(2);
    expect(last.omittedLines).toBeGreaterThan(0);
    expect((await mcp.call('getContent', { since: 'yesterday' })).content[0]?.text).toMatch(
      /^Error: since: "yesterday" is not a marker/,
    );
    await mcp.call('type', { text: 'sleep 0.5; echo la""ter', submit: true });
    expect((await mcp.facts<Read>('getContent', { waitFor: 'later', timeoutMs: 10_000 })).matched).toBe(true);
    const never = await mcp.facts<Read>('getContent', { waitFor: 'never printed', timeoutMs: 200 });
    expect(never.matched).toBe(false);
    await mcp.call('clear');
    expect((await mcp.facts<Read>('getContent', { since: first.marker })).sinceLost).toBe(true);
  });

  test('R-TERM-052: waitFor takes neither the echo of a command nor older text for its answer', async () => {
    await using mcp = await Mcp.start();
    await mcp.run('echo built');
    await mcp.call('type', { text: 'read x; echo built', submit: true });
    const early = await mcp.facts<Read>('getContent', { waitFor: 'built', timeoutMs: 1000 });
    expect(early).toMatchObject({ matched: false, content: expect.stringContaining('echo built') as string });
    await mcp.call('type', { text: '', submit: true });
    expect((await mcp.facts<Read>('getContent', { waitFor: 'built', timeoutMs: 10_000 })).matched).toBe(true);
    // What a full-screen program keeps on show counts, whenever it was drawn.
    await mcp.call('type', { text: "printf '\\033[?1049hme''nu'; read x", submit: true });
    await mcp.facts('getContent', { waitFor: 'menu', timeoutMs: 10_000 });
    await mcp.call('type', { text: 'k' });
    expect((await mcp.facts<Read>('getContent', { waitFor: 'menu', timeoutMs: 10_000 })).matched).toBe(true);
  });

  test('R-TERM-052: waitFor with lastCommand is about the newest command, and ends with it', async () => {
    await using mcp = await Mcp.start();
    for (let round = 0; round < 5; round++) {
      await mcp.run('echo all tests passed');
      await mcp.call('type', { text: 'sleep 0.2; false', submit: true });
      const began = performance.now();
      const input = { waitFor: 'all tests passed', lastCommand: true, timeoutMs: 30_000 };
      const read = await mcp.facts<Read>('getContent', input);
      expect(read).toMatchObject({ matched: false, exitCode: 1, command: 'sleep 0.2; false' });
      expect(performance.now() - began).toBeLessThan(20_000);
    }
  });

  test('waitFor in a terminal nobody typed into sees what was printed before', async () => {
    await using mcp = await Mcp.start();
    const program = join(mcp.home, 'greeter');
    writeFileSync(program, '#!/bin/sh\necho ready\nexec sleep 1000\n', { mode: 0o755 });
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession', { shell: program });
    await expect.poll(() => mcp.text('getContent', { sessionId })).toContain('ready');
    expect((await mcp.facts<Read>('getContent', { sessionId, waitFor: 'ready' })).matched).toBe(true);
  });

  test('R-TERM-053: clear keeps the prompt line and tells the program nothing', async () => {
    await using mcp = await Mcp.start();
    await mcp.run('seq 1 200');
    await mcp.call('type', { text: 'half typed' });
    expect(await mcp.facts('getContent', { waitFor: 'half typed' })).toMatchObject({ matched: true });
    await mcp.call('clear');
    expect(await mcp.text('getContent')).toMatch(/^[^\n]*half typed$/);
    const { cursor, scrollbackRows } = await mcp.facts<{ cursor: { y: number }; scrollbackRows: number }>(
      'takeScreenshot',
    );
    expect(cursor.y).toBe(0);
    expect(scrollbackRows).toBe(0);
    await mcp.call('sendKey', { key: 'Ctrl+C' });
    await mcp.prompt();
    await mcp.call('type', { text: 'printf partial; sleep 60', submit: true });
    expect(await mcp.facts('getContent', { waitFor: '\npartial' })).toMatchObject({ matched: true });
    await mcp.call('clear');
    expect(await mcp.text('getContent')).toBe('(empty terminal)');
  });

  test('DESIGN 5: characters nobody sees are taken out of text, ansi and title, and counted', async () => {
    await using mcp = await Mcp.start();
    await mcp.run("printf 'a\\342\\200\\256b\\342\\200\\213c\\033]2;t\\342\\200\\256t\\007\\n'");
    const { structuredContent } = await mcp.call('getContent', { lastCommand: true });
    expect(structuredContent).toMatchObject({ content: 'abc', flags: { bidi: 1, zero_width: 1 } });
    for (const format of ['text', 'ansi']) {
      expect(JSON.stringify(await mcp.call('takeScreenshot', { format }))).not.toMatch(/[\u202e\u200b]/);
    }
  });

  test('"(empty terminal)" when there is nothing', async () => {
    await using mcp = await Mcp.start();
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession', { shell: '/bin/cat' });
    expect(await mcp.text('getContent', { sessionId })).toBe('(empty terminal)');
  });
});

describe('screenshots', () => {
  test('R-TERM-060: the documented JSON, and more', async () => {
    await using mcp = await Mcp.start();
    await mcp.call('type', { text: "clear; printf '\\033]2;my title\\007\\033[3;5Hhe''re'; sleep 60", submit: true });
    expect(await mcp.facts('getContent', { waitFor: 'here' })).toMatchObject({ matched: true });
    const text = await mcp.text('takeScreenshot');
    expect(text).toMatch(/^\{\n {2}"content": "/);
    expect(JSON.parse(text)).toEqual({
      content: '\n\n    here',
      cursor: { x: 8, y: 2 },
      dimensions: { cols: 120, rows: 40 },
      cursorVisible: true,
      title: 'my title',
      altScreen: false,
      scrollbackRows: expect.any(Number),
      sessionId: expect.stringMatching(/^[0-9a-f]{5}$/),
    });
  });

  test('R-TERM-061, 062: ansi and png', async () => {
    await using mcp = await Mcp.start();
    await mcp.run("printf '\\033[1;31mred\\033[0m\\n'");
    expect(await mcp.text('takeScreenshot', { format: 'ansi' })).toMatch(/\x1b\[[0-9;]*31[0-9;]*mred\x1b\[0?m/);
    const png = await mcp.call('takeScreenshot', { format: 'png' });
    const [image, caption] = png.content;
    expect(image).toMatchObject({ type: 'image', mimeType: 'image/png' });
    const bytes = Buffer.from(image?.data ?? '', 'base64');
    expect(bytes.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([
      2 * (16 + 120 * 8.4 + 16),
      2 * (16 + 40 * 17 + 16),
    ]);
    expect(caption?.text).toMatch(/^PNG 2080x1424, \d+ bytes: .+\.png$/);
    expect(png.structuredContent).toBeUndefined();
  });

  test.runIf(process.platform === 'linux')('120x40 takes under 150 ms of processor time', async () => {
    await using mcp = await Mcp.start();
    await mcp.run('for i in $(seq 16 231); do printf "\\033[38;5;${i}m%3d ███ " $i; done; seq 1 30');
    await mcp.call('takeScreenshot', { format: 'png' });
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const spent = cpuTimerOf(mcp.child.pid ?? 0);
      await mcp.call('takeScreenshot', { format: 'png' });
      times.push(spent());
    }
    expect(Math.min(...times)).toBeLessThan(150);
  });
});
