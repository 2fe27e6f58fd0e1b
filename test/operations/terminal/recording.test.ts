import { execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { RecordingMetadata } from '../../../src/engine/recording/metadata.ts';
import { Screen } from '../../../src/engine/screen/screen.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { tempDir } from '../../support/recording.ts';
import { Mcp } from '../../support/mcp-client.ts';

const program = join(import.meta.dirname, '..', '..', '..', 'bin', 'fairlead.js');
const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

interface Started {
  readonly recordingId: string;
  readonly path: string;
  readonly sessionId?: string;
}
interface Stopped extends Started {
  readonly durationMs: number;
  readonly bytesWritten: number;
  readonly saved: boolean;
  readonly stopReason: string;
}
type Event = [number, string, string];

function readCast(path: string): { header: Record<string, unknown>; events: Event[] } {
  const [head = '', ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n');
  return {
    header: JSON.parse(head) as Record<string, unknown>,
    events: lines.map((line) => JSON.parse(line) as Event),
  };
}

const outputOf = (events: Event[]): string =>
  events
    .filter(([, code]) => code === 'o')
    .map(([, , data]) => data)
    .join('');

describe('recording', () => {
  test('R-TERM-070, 072, 076…078: the documented answers, a valid cast and its metadata', async () => {
    await using mcp = await Mcp.start();
    const started = await mcp.call('startRecording', { title: 'demo', markers: true });
    const text = started.content[0]?.text ?? '';
    expect(text).toMatch(
      /^\{\n {2}"recordingId": "[0-9a-f]{16}",\n {2}"path": ".*\/\.local\/state\/fairlead\/recordings\/terminal-\d{13}-[0-9a-f]{16}\.cast",\n {2}"format": "v2",\n {2}"mode": "always",/,
    );
    expect(text).toContain('"message": "Recording. The file is complete when it is stopped, at the latest after');
    const { recordingId, path } = started.structuredContent as unknown as Started;
    expect(existsSync(path), 'only the part file exists before the stop').toBe(false);
    const folder = join(path, '..');
    const part = readdirSync(folder).find((name) => name.endsWith('.cast.part')) ?? '';
    expect(statSync(join(folder, part)).mode & 0o777).toBe(0o600);

    await mcp.run('echo recorded; (exit 3)');
    const stopped = await mcp.call('stopRecording', { recordingId });
    expect(stopped.content[0]?.text).toMatch(
      new RegExp(
        `^\\{\\n {2}"recordingId": "${recordingId}",\\n {2}"path": ".*\\.cast",\\n {2}"durationMs": \\d+,\\n {2}"bytesWritten": \\d+,\\n {2}"saved": true,\\n {2}"mode": "always",`,
      ),
    );
    const facts = stopped.structuredContent as unknown as Stopped;
    expect(facts).toMatchObject({ recordingId, path, saved: true, stopReason: 'explicit', exitCode: null });
    expect(facts.bytesWritten).toBe(statSync(path).size);

    const { header, events } = readCast(path);
    expect(header).toMatchObject({
      version: 2,
      width: 120,
      height: 40,
      timestamp: expect.any(Number),
      title: 'demo',
      env: { SHELL: '/bin/bash', TERM: 'xterm-256color' },
    });
    let last = 0;
    for (const [time] of events) {
      expect(time).toBeGreaterThanOrEqual(last);
      last = time;
    }
    expect(events.find(([, code]) => code === 'm')?.[2]).toContain('echo recorded');
    expect(outputOf(events)).toContain('recorded\r\n');
    expect(outputOf(events), 'command marks are kept').toMatch(/\x1b\]133;D;3;/);
    expect(outputOf(events), 'the secret that proves a mark is not').not.toContain('fl=');
    const meta = JSON.parse(readFileSync(path.replace(/\.cast$/, '.meta.json'), 'utf8')) as Record<string, unknown>;
    expect(meta).toMatchObject({
      recordingId,
      exitCode: null,
      durationMs: expect.any(Number),
      startTime: expect.any(Number),
      endTime: expect.any(Number),
      bytesWritten: facts.bytesWritten,
      stopReason: 'explicit',
      mode: 'always',
      cols: 120,
      rows: 40,
      title: 'demo',
      failed: true,
      commands: [{ command: 'echo recorded; (exit 3)', exitCode: 3 }],
    });
    expect((await mcp.call('stopRecording', { recordingId })).content[0]?.text, 'R-TERM-080').toBe(
      `Error: Recording already finalized: ${recordingId}`,
    );
    expect((await mcp.call('stopRecording', { recordingId: 'invalid-id' })).content[0]?.text).toBe(
      'Error: Recording not found: invalid-id',
    );
  });

  test('R-TERM-071: one recording per session; a second answers as documented', async () => {
    await using mcp = await Mcp.start();
    const { recordingId, path } = await mcp.facts<Started>('startRecording');
    const second = await mcp.call('startRecording');
    expect(second.isError).toBe(true);
    expect(second.content[0]?.text).toBe(
      `{\n  "error": "A recording is already in progress",\n  "activeRecordingId": "${recordingId}",\n  "activePath": "${path}"\n}`,
    );
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession');
    const other = await mcp.facts<Started>('startRecording', { sessionId });
    await mcp.run('echo only-in-the-first');
    await mcp.run('echo only-in-the-second', { sessionId });
    const [one, two] = await Promise.all([
      mcp.facts<Stopped>('stopRecording', { recordingId }),
      mcp.facts<Stopped>('stopRecording', { recordingId: other.recordingId }),
    ]);
    expect(outputOf(readCast(one.path).events)).not.toContain('only-in-the-second');
    expect(outputOf(readCast(two.path).events)).not.toContain('only-in-the-first');
    const all = await mcp.facts<{ recordings: Started[] }>('startRecording', { all: true });
    expect(all.recordings).toHaveLength(2);
    await mcp.call('createSession');
    const again = await mcp.call('startRecording', { all: true });
    const leftOut = all.recordings.map((one) => ({ sessionId: one.sessionId, recordingId: one.recordingId }));
    expect(again.structuredContent).toMatchObject({ recordings: [{}], alreadyRecorded: leftOut });
    expect(JSON.parse(again.content[0]?.text ?? '')).toMatchObject({ recordings: [{}], alreadyRecorded: leftOut });
  });

  test('R-TERM-077: the command that ends the session is named', async () => {
    await using mcp = await Mcp.start();
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession', { shell: 'bash' });
    await mcp.run('echo ready', { sessionId });
    const { recordingId, path } = await mcp.facts<Started>('startRecording', { sessionId });
    await mcp.call('type', { text: 'exit 5', submit: true, sessionId });
    await expect.poll(() => existsSync(path)).toBe(true);
    await mcp.call('stopRecording', { recordingId });
    const metadata = JSON.parse(readFileSync(path.replace(/cast$/, 'meta.json'), 'utf8')) as RecordingMetadata;
    expect(metadata.exitCode).toBe(5);
    expect(metadata.commands).toMatchObject([{ command: 'exit 5' }]);
  });

  test('R-TERM-079: on-failure keeps only what failed', async () => {
    await using mcp = await Mcp.start();
    const good = await mcp.facts<Started>('startRecording', { mode: 'on-failure' });
    await mcp.run('true');
    const dropped = await mcp.facts<Stopped & { reason: string }>('stopRecording', { recordingId: good.recordingId });
    expect(dropped).toMatchObject({ saved: false, path: '', reason: expect.any(String) });
    expect(readdirSync(join(good.path, '..')).filter((name) => name.includes(good.recordingId))).toEqual([]);
    const bad = await mcp.facts<Started>('startRecording', { mode: 'on-failure' });
    await mcp.run('false');
    expect(await mcp.facts<Stopped>('stopRecording', { recordingId: bad.recordingId })).toMatchObject({
      saved: true,
      path: bad.path,
    });
  });

  test('R-TERM-070: input is recorded when asked for, never while echo is off', async () => {
    await using mcp = await Mcp.start();
    const { recordingId } = await mcp.facts<Started>('startRecording', { input: true });
    await mcp.call('type', { text: "stty -echo; printf 'pass''word: '; read secret; stty echo", submit: true });
    expect(await mcp.facts('getContent', { waitFor: 'password: ' })).toMatchObject({ matched: true });
    await mcp.call('type', { text: 'hunter2hunter2', submit: true });
    // Until then echo may still be off.
    await mcp.prompt();
    await mcp.run('echo visible');
    const { path } = await mcp.facts<Stopped>('stopRecording', { recordingId });
    const raw = readFileSync(path, 'utf8');
    expect(raw).not.toContain('hunter2');
    expect(
      readCast(path)
        .events.filter(([, code]) => code === 'i')
        .map(([, , data]) => data)
        .join(''),
    ).toContain('echo visible');
  });

  test('R-TERM-070: redact masks secrets before they are written', async () => {
    await using mcp = await Mcp.start();
    const { recordingId } = await mcp.facts<Started>('startRecording', { redact: true });
    await mcp.run('echo GITHUB_TOKEN=ghp_$(echo 8R7q6P5o4N3m2L1k0J9i8H7g6F5e4D3c2B1a | rev)');
    const { path } = await mcp.facts<Stopped>('stopRecording', { recordingId });
    const raw = readFileSync(path, 'utf8');
    expect(raw).not.toContain('a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8');
    expect(raw).toContain('<redacted:');
  });

  test('R-TERM-075: a directory that cannot be written is an error at the start', async () => {
    await using mcp = await Mcp.start();
    const result = await mcp.call('startRecording', { outputDir: '/proc/nowhere' });
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toMatch(/^Error: [^\n]*\/proc\/nowhere[^\n]*$/);
    expect((await mcp.call('startRecording')).isError).toBeFalsy();
  });

  test('R-TERM-081: the end of the server finalises recordings; --record records from the start', async () => {
    await using mcp = await Mcp.start({ args: ['--record'] });
    await mcp.run('echo from-the-start');
    await mcp.facts('startRecording');
    await mcp.end();
    const folder = join(mcp.home, '.local/state/fairlead/recordings');
    const names = readdirSync(folder);
    expect(names.filter((name) => name.endsWith('.part'))).toEqual([]);
    const metas = names
      .filter((name) => name.endsWith('.meta.json'))
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as object);
    expect(metas).toMatchObject([{ stopReason: 'server_shutdown' }, { stopReason: 'server_shutdown' }]);
    const casts = names.filter((name) => name.endsWith('.cast')).sort();
    expect(outputOf(readCast(join(folder, casts[0] ?? '')).events)).toContain('from-the-start');
  });

  test('R-TERM-081: a server that records ends within two seconds', { timeout: 90_000 }, async () => {
    const endsIn = async (args: readonly string[]): Promise<number> => {
      await using mcp = await Mcp.start({ args });
      await mcp.run('echo from-the-start');
      return (await mcp.end()).ms;
    };
    const times: number[] = [];
    // On a busy machine every end takes longer; what the server waits for by itself it waits for every time.
    for (let round = 0; round < 5 && !times.some((ms) => ms < 2000); round++) {
      const without = round === 0 ? 0 : await endsIn([]);
      times.push((await endsIn(['--record'])) - without);
    }
    expect(Math.min(...times)).toBeLessThan(2000);
  });

  // A dozen processes, one after the other.
  test('R-TERM-075: what a crash leaves behind is recovered by the command line', { timeout: 90_000 }, async () => {
    await using mcp = await Mcp.start();
    const { recordingId, path } = await mcp.facts<Started>('startRecording');
    await mcp.run('echo before the crash');
    const folder = join(path, '..');
    const part = readdirSync(folder).find((name) => name.endsWith('.part')) ?? '';
    await expect.poll(() => readFileSync(join(folder, part), 'utf8')).toContain('before the crash');
    mcp.child.kill('SIGKILL');
    await once(mcp.child, 'exit');
    const cli = (...args: string[]): string =>
      execFileSync(process.execPath, [program, ...args, '--record-dir', folder], {
        encoding: 'utf8',
        env: { HOME: mcp.home, PATH: process.env['PATH'] },
      });
    expect(cli('recordings', 'list')).toContain('unfinished');
    expect(cli('recordings', 'recover')).toContain(path);
    expect(outputOf(readCast(path).events)).toContain('before the crash');
    expect(cli('recordings', 'show', recordingId.slice(0, 6))).toContain('recovered');
    expect(cli('recordings', 'export', recordingId, '--format', 'txt', '--output', '-')).toContain('before the crash');
    expect(cli('recordings', 'export', recordingId, '--format', 'md', '--output', '-')).toContain('before the crash');
    const gif = join(mcp.home, 'out.gif');
    cli('recordings', 'export', recordingId, '--format', 'gif', '--output', gif);
    expect(readFileSync(gif).subarray(0, 6).toString()).toBe('GIF89a');
    expect(cli('play', recordingId, '--speed', '1000')).toContain('before the crash');
    cli('recordings', 'rm', recordingId);
    expect(JSON.parse(cli('recordings', 'list', '--json'))).toEqual([]);
  });
});

describe('the command line', () => {
  const cast = '{"version":2,"width":80,"height":24,"title":"t"}\n[0.1,"o","played"]\n';
  const cli = (folder: string, ...args: string[]): SpawnSyncReturns<string> =>
    spawnSync(process.execPath, [program, ...args, '--record-dir', folder], {
      encoding: 'utf8',
      cwd: folder,
      env: { HOME: folder, PATH: process.env['PATH'] },
    });

  test('R-TERM-075: recover --force closes what a writer out of sight left', async () => {
    await using dir = await tempDir();
    const part = join(dir.path, '.terminal-1-00000000000000aa.cast.part');
    writeFileSync(part, cast);
    writeFileSync(part.replace('cast.part', 'writer.json'), '{"writer":{"pid":1,"host":"elsewhere"}}');
    expect(cli(dir.path, 'recordings', 'recover').stdout).toContain('--force');
    expect(existsSync(part)).toBe(true);
    expect(cli(dir.path, 'recordings', 'recover', '--force').stdout).toContain('Recovered');
    expect(readdirSync(dir.path).toSorted()).toEqual([
      'terminal-1-00000000000000aa.cast',
      'terminal-1-00000000000000aa.meta.json',
    ]);
  });

  test('R-TERM-082: a cast with another suffix is played and exported, and never written over', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 'demo.txt');
    writeFileSync(path, cast);
    for (const name of ['demo.txt', './demo.txt', path]) {
      expect(cli(join(dir.path), 'play', name, '--speed', '1000').stdout).toContain('played');
    }
    expect(cli(dir.path, 'recordings', 'export', path, '--format', 'txt')).toMatchObject({ status: 2 });
    expect(readFileSync(path, 'utf8')).toBe(cast);
    cli(dir.path, 'recordings', 'export', path, '--format', 'md');
    expect(readFileSync(join(dir.path, 'demo.md'), 'utf8')).toContain('played');
  });

  test('a recording that is played reaches the screen, never the clipboard, the printer or the window', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 'hostile.cast');
    const events = [
      '\\u001b]52;c;cm0gLXJm\\u0007\\u001b[5i\\u001b[21t\\u001b[31mred',
      '\\u001b]52;c;',
      'eA==\\u001b\\\\end',
    ];
    writeFileSync(
      path,
      `{"version":2,"width":80,"height":24}\n${events.map((data) => `[0.1,"o","${data}"]\n`).join('')}`,
    );
    expect(cli(dir.path, 'play', path, '--speed', '1000').stdout).toBe('\x1b[31mredend');
  });

  test('R-TERM-012: a speed that is no number is refused, whatever the format', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 'demo.cast');
    writeFileSync(path, cast);
    for (const format of ['txt', 'md', 'gif']) {
      const refused = cli(dir.path, 'recordings', 'export', path, '--format', format, '--speed', 'abc');
      expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('--speed: "abc"') as string });
    }
    expect(cli(dir.path, 'play', path, '--speed', 'abc')).toMatchObject({ status: 2 });
  });

  test('R-TERM-082: titles and commands do nothing to the terminal they are listed on', async () => {
    await using dir = await tempDir();
    const bad = 'a\x1b]0;owned\x07\x1b[2J\u009b2J\u202eb\r\nc';
    writeFileSync(join(dir.path, 'terminal-1-00000000000000aa.cast'), cast);
    const metadata = { title: bad, sessionId: bad, commands: [{ command: bad, exitCode: 0, startMs: 0, endMs: 0 }] };
    writeFileSync(join(dir.path, 'terminal-1-00000000000000aa.meta.json'), JSON.stringify(metadata));
    for (const args of [['list'], ['show', '00000000000000aa']]) {
      const { stdout } = cli(dir.path, 'recordings', ...args);
      expect(stdout).toContain('owned');
      expect(stdout).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
      expect(stdout).not.toMatch(/^c/m);
    }
  });
});

/** Colours, wide glyphs, a full-screen stretch, cursor movement, and a scroll. */
const show = [
  "printf '\\033[31mred\\033[0m 日本語 é🙂 ┌──┐\\n'",
  "printf '\\033[?1049h\\033[2J\\033[5;5Hfull screen\\033[?1049l'",
  "printf 'progress 10%%\\rprogress 99%%\\n'",
  'seq 1 60',
];

/** A browser takes a while to start on a busy machine. */
const slow = { timeout: 120_000 };

describe('R-TERM-082: casts play elsewhere', () => {
  async function record(mcp: Mcp): Promise<{ path: string; screen: string }> {
    await mcp.run('echo before');
    const { recordingId } = await mcp.facts<Started>('startRecording', { idleTimeLimit: 0.2 });
    for (const line of show) await mcp.run(line);
    const { content } = await mcp.facts<{ content: string }>('takeScreenshot');
    const { path } = await mcp.facts<Stopped>('stopRecording', { recordingId });
    return { path, screen: content };
  }

  test('the cast ends on the grid of the live screen', async () => {
    await using mcp = await Mcp.start({ args: ['--rows', '24'] });
    const { path, screen } = await record(mcp);
    using replay = new Screen({ size: { cols: 120, rows: 24 }, clock: systemClock });
    for (const [, code, data] of readCast(path).events) if (code === 'o') replay.feed(Buffer.from(data));
    expect(replay.text({ scope: 'viewport', wrap: 'keep' })).toBe(screen);
  });

  test('asciinema prints it', async () => {
    await using mcp = await Mcp.start({ args: ['--rows', '24'] });
    const { path } = await record(mcp);
    // It wants a terminal of its own; one is at hand.
    const { content, exitCode } = await mcp.run(`asciinema cat ${path}`);
    expect(exitCode).toBe(0);
    expect(content).toContain('日本語');
    expect(content).toContain('\n60\n');
  });

  test.runIf(browser)('asciinema-player in a browser ends on the grid of the live screen', slow, async () => {
    await using mcp = await Mcp.start({ args: ['--rows', '24'] });
    const { path, screen } = await record(mcp);
    const dist = join(import.meta.dirname, '..', '..', '..', 'node_modules', 'asciinema-player', 'dist', 'bundle');
    const page = `<!doctype html><meta charset="utf-8"><div id="p"></div><link rel="stylesheet" href="/asciinema-player.css">
      <script src="/asciinema-player.min.js"></script><script>
      const player = AsciinemaPlayer.create('/cast', document.getElementById('p'), { speed: 50, autoPlay: true });
      player.addEventListener('ended', () => { window.ended = true; });</script>`;
    const server = createServer((request, response) => {
      const name = request.url ?? '/';
      if (name === '/') response.setHeader('content-type', 'text/html').end(page);
      else if (name === '/cast') response.end(readFileSync(path));
      else if (existsSync(join(dist, name)))
        response
          .setHeader('content-type', name.endsWith('css') ? 'text/css' : 'text/javascript')
          .end(readFileSync(join(dist, name)));
      else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const chrome = await chromium.launch({
      timeout: 90_000,
      executablePath: browser ?? '',
      args: [
        '--no-sandbox',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
      ],
    });
    try {
      const tab = await chrome.newPage();
      await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      await tab.waitForFunction('window.ended === true', undefined, { timeout: 60_000 });
      const seen = async (): Promise<string[]> => {
        const lines = await tab.evaluate<string[]>(
          "[...document.querySelectorAll('.ap-line, .ap-term-text .ap-line')].map((line) => line.textContent)",
        );
        return lines.map((line) => line.trimEnd());
      };
      const rows = screen.split('\n').slice(0, -1);
      // It may draw its last frame after it has said that it ended.
      await expect.poll(seen).toEqual(expect.arrayContaining(rows.map((row) => row.trimEnd())));
    } finally {
      await chrome.close();
      server.close();
    }
  });
});
