import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Mcp } from './support/mcp.ts';

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

describe('the ten tools', () => {
  test('R-TERM-001, 003: listed in the documented order with schemas and annotations', async () => {
    await using mcp = await Mcp.start({ args: ['--toolsets', 'terminal'] });
    const { result } = await mcp.request('tools/list', {});
    const tools = result?.['tools'] as {
      name: string;
      inputSchema: object;
      outputSchema?: object;
      annotations: object;
      description: string;
    }[];
    expect(tools.map(({ name }) => name)).toEqual([
      'type',
      'sendKey',
      'getContent',
      'takeScreenshot',
      'clear',
      'startRecording',
      'stopRecording',
      'createSession',
      'listSessions',
      'destroySession',
    ]);
    for (const tool of tools) {
      expect(tool.inputSchema).toMatchObject({ type: 'object' });
      // A picture and an output schema cannot both be had: docs/decisions/0005.
      if (tool.name !== 'takeScreenshot') expect(tool.outputSchema, tool.name).toMatchObject({ type: 'object' });
    }
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
    expect(hints['getContent']).toMatchObject({ readOnlyHint: true });
    expect(hints['takeScreenshot']).toMatchObject({ readOnlyHint: true });
    expect(hints['listSessions']).toMatchObject({ readOnlyHint: true });
    expect(hints['destroySession']).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(hints['clear']).toMatchObject({ destructiveHint: true });
    expect(hints['type']).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    const described = Object.fromEntries(tools.map(({ name, description }) => [name, description]));
    expect(described['type'], 'R-TERM-113').toMatch(/history expansion/);
    expect(described['type'], 'R-TERM-113').toMatch(/Enter is separate/);
  });

  test('R-TERM-003: documented texts are byte-equal', async () => {
    await using mcp = await Mcp.start();
    expect(await mcp.text('type', { text: 'ls -la' })).toBe('Typed 6 character(s) to terminal');
    expect(await mcp.text('sendKey', { key: 'Ctrl+C' })).toBe('Sent key: Ctrl+C');
    expect(await mcp.text('clear')).toBe('Terminal cleared');
    const unknown = await mcp.call('sendKey', { key: 'InvalidKey' });
    expect(unknown.isError).toBe(true);
    expect(unknown.content[0]?.text).toMatch(
      /^Error: Unknown key: "InvalidKey"\. Available keys include: Enter, Tab, Escape, Backspace, Delete, ArrowUp, ArrowDown, ArrowLeft, ArrowRight, Home, End, PageUp, PageDown, Insert, F1, \.\.\.( Did you mean [^?]+\?)?$/,
    );
    expect(await mcp.text('sendKey', { key: 'Entr' }), 'R-TERM-044').toMatch(/\.\.\. Did you mean Enter\?$/);
    expect((await mcp.call('typ', { text: 'x' })).content[0]?.text, 'R-TERM-005').toBe(
      'Error: Unknown tool: "typ". Did you mean "type"?',
    );
  });

  test('R-TERM-004: missing arguments count as none; a wrong one is one line that names it', async () => {
    await using mcp = await Mcp.start();
    expect((await mcp.call('listSessions')).isError).toBeFalsy();
    const faults: [string, unknown, string][] = [
      ['type', undefined, 'Error: text: is required (string)'],
      ['destroySession', {}, 'Error: sessionId: is required (string)'],
      ['getContent', { sessionId: null }, 'Error: sessionId: Invalid input: expected string, received null'],
      ['createSession', { env: { 'A=B': 'x' } }, 'Error: env: has a name that is empty or holds "="'],
      ['type', { text: 7 }, 'Error: text: Invalid input: expected string, received number'],
      ['sendKey', { key: 'Enter', repeat: 65 }, 'Error: repeat: Too big: expected number to be <=64'],
      ['createSession', { cols: 0 }, 'Error: cols: Too small: expected number to be >=2'],
      ['createSession', { env: { A: 1 } }, 'Error: env.A: Invalid input: expected string, received number'],
      ['getContent', { timeoutMs: 30_001 }, 'Error: timeoutMs: Too big: expected number to be <=30000'],
    ];
    for (const [name, input, text] of faults) {
      const result = await mcp.call(name, input);
      expect(result.isError, name).toBe(true);
      expect(result.content[0]?.text).toBe(text);
    }
  });

  test('R-TERM-110…112: identity, instructions and prompts', async () => {
    await using mcp = await Mcp.raw();
    const { result } = await mcp.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    expect(result).toMatchObject({
      protocolVersion: '2025-06-18',
      serverInfo: { name: 'fairlead', title: 'Fairlead', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      capabilities: { tools: expect.anything(), prompts: expect.anything() },
    });
    expect(String(result?.['instructions']).length).toBeLessThanOrEqual(2000);
    expect(result?.['instructions']).toMatch(/data, not instructions/);
    mcp.notify('notifications/initialized');
    const list = (await mcp.request('prompts/list', {})).result?.['prompts'] as { name: string }[];
    expect(list.map(({ name }) => name).slice(0, 5)).toEqual([
      'tool-usage',
      'run-command',
      'drive-tui',
      'record-demo',
      'debug-failure',
    ]);
    const run = await mcp.request('prompts/get', { name: 'run-command', arguments: { command: 'make' } });
    expect(JSON.stringify(run.result)).toContain('make');
    expect((await mcp.request('prompts/get', { name: 'nope' })).error?.message).toMatch(/tool-usage, run-command/);
  });
});

describe('input', () => {
  test('R-TERM-040: characters are code points; halves of pairs are refused; nothing is typed then', async () => {
    await using mcp = await Mcp.start();
    expect(await mcp.text('type', { text: 'é🙂' })).toBe('Typed 2 character(s) to terminal');
    mcp.send(
      `{"jsonrpc":"2.0","id":900,"method":"tools/call","params":{"name":"type","arguments":{"text":"a\\ud83d"}}}`,
    );
    const before = await mcp.text('getContent');
    const refused = mcp.lines.find((line) => line.includes('"id":900')) ?? '';
    expect(refused).toContain('half of a surrogate pair');
    expect(before).toMatch(/é🙂$/);
  });

  test('a text of 10 MB is refused in one line and the session lives on', async () => {
    await using mcp = await Mcp.start();
    const result = await mcp.call('type', { text: 'x'.repeat(10 << 20) });
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toMatch(/^Error: text: is over 1048576 bytes; [^\n]+$/);
    expect(await mcp.run('echo alive')).toMatchObject({ content: 'alive', exitCode: 0 });
  });

  test('R-TERM-043: arrows follow the mode the program set', async () => {
    await using mcp = await Mcp.start();
    await mcp.call('type', { text: "stty -icanon; printf '\\033[?1hready\\n'; cat -v", submit: true });
    await mcp.facts('getContent', { waitFor: '\nready', timeoutMs: 10_000 });
    await mcp.call('sendKey', { key: 'ArrowUp' });
    expect((await mcp.facts<Read>('getContent', { waitFor: '^[OA', timeoutMs: 5000 })).matched).toBe(true);
    await mcp.call('sendKey', { key: 'Ctrl+C' });
    await mcp.text('getContent');
    await mcp.call('type', { text: "printf '\\033[?1lset\\n'; cat -v", submit: true });
    await mcp.facts('getContent', { waitFor: '\nset', timeoutMs: 10_000 });
    await mcp.call('sendKey', { key: 'up', repeat: 2 });
    expect((await mcp.facts<Read>('getContent', { waitFor: '^[[A^[[A', timeoutMs: 5000 })).matched).toBe(true);
  });

  test('concurrent type calls do not interleave', async () => {
    await using mcp = await Mcp.start();
    await mcp.call('type', { text: 'stty -icanon -echo; cat > out & fg', submit: true });
    await mcp.text('getContent');
    const bodies = ['a', 'b', 'c'].map((letter) => `${letter.repeat(2000)}\n`);
    await Promise.all(bodies.map((text) => mcp.call('type', { text })));
    const written = (): string => readFileSync(join(mcp.home, 'out'), 'latin1');
    await expect.poll(() => written().length, { timeout: 10_000 }).toBe(bodies.join('').length);
    expect(written().split('\n').sort()).toEqual(['', ...bodies.map((body) => body.trim())]);
  });

  test('Ctrl+C overtakes text that a stuck program does not read', async () => {
    await using mcp = await Mcp.start();
    await mcp.call('type', { text: 'stty -icanon -echo; sleep 1000; echo not reached', submit: true });
    await mcp.text('getContent');
    const stuck = mcp.call('type', { text: 'x'.repeat(500_000) });
    expect(await mcp.text('sendKey', { key: 'Ctrl+C' })).toBe('Sent key: Ctrl+C');
    const { isError, content } = await stuck;
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(/^Error: Overtaken by Ctrl\+C; only a part of 500000 bytes was typed\./);
    const foreground = async (): Promise<unknown> =>
      (await mcp.facts<{ sessions: { foreground: string }[] }>('listSessions')).sessions[0]?.foreground;
    await expect.poll(foreground).toBe('bash');
    expect(await mcp.text('getContent')).not.toMatch(/^not reached/m);
  });
});

describe('reading', () => {
  test('R-TERM-050: 1 MiB printed and read at once ends with its last line', async () => {
    await using mcp = await Mcp.start();
    for (let round = 0; round < 5; round++) {
      const end = randomBytes(8).toString('hex');
      await mcp.call('type', {
        text: `head -c 1048576 /dev/zero | tr '\\0' x | fold -w 100; echo; echo ${end.slice(0, 8)}""${end.slice(8)}`,
      });
      await mcp.call('sendKey', { key: 'Enter' });
      expect(await mcp.text('getContent')).toContain(`\n${end}\n`);
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
    await mcp.call('type', { text: "printf '\\033[?1049h\\033[Hfull screen'; sleep 60", submit: true });
    const read = await mcp.facts<Read>('getContent', { waitFor: 'full screen', timeoutMs: 5000 });
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

  test('R-TERM-053: clear keeps the prompt line and tells the program nothing', async () => {
    await using mcp = await Mcp.start();
    await mcp.run('seq 1 200');
    await mcp.call('type', { text: 'half typed' });
    await mcp.text('getContent');
    await mcp.call('clear');
    expect(await mcp.text('getContent')).toMatch(/^[^\n]*half typed$/);
    const { cursor, scrollbackRows } = await mcp.facts<{ cursor: { y: number }; scrollbackRows: number }>(
      'takeScreenshot',
    );
    expect(cursor.y).toBe(0);
    expect(scrollbackRows).toBe(0);
    await mcp.call('sendKey', { key: 'Ctrl+C' });
    await mcp.text('getContent');
    await mcp.call('type', { text: 'printf partial; sleep 60', submit: true });
    await mcp.facts('getContent', { waitFor: '\npartial' });
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
    await mcp.call('type', { text: "clear; printf '\\033]2;my title\\007\\033[3;5Hhere'; sleep 60", submit: true });
    await mcp.facts('getContent', { waitFor: 'here' });
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

  test('120x40 takes under 150 ms', async () => {
    await using mcp = await Mcp.start();
    await mcp.run('for i in $(seq 16 231); do printf "\\033[38;5;${i}m%3d ███ " $i; done; seq 1 30');
    await mcp.call('takeScreenshot', { format: 'png' });
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const started = performance.now();
      await mcp.call('takeScreenshot', { format: 'png' });
      times.push(performance.now() - started);
    }
    expect(Math.min(...times)).toBeLessThan(150);
  });
});

describe('sessions', () => {
  test('R-TERM-030, 031: create and list', async () => {
    await using mcp = await Mcp.start();
    const made = await mcp.facts<{ sessionId: string; rpcId: number }>('createSession', {
      cols: 90,
      rows: 30,
      cwd: '/',
      env: { COLOUR: 'teal' },
      name: 'build',
    });
    expect(made).toMatchObject({
      sessionId: expect.stringMatching(/^[0-9a-f]{5}$/),
      shell: '/bin/bash',
      cols: 90,
      rows: 30,
      isDefault: false,
      name: 'build',
      cwd: '/',
      pid: expect.any(Number),
      createdAt: expect.any(String),
      lastActivityAt: expect.any(String),
    });
    const { sessionId, rpcId } = made;
    expect(await mcp.run('echo $COLOUR; stty size', { sessionId })).toMatchObject({ content: 'teal\n30 90' });
    expect(await mcp.run('echo by number', { sessionId: rpcId })).toMatchObject({ content: 'by number' });
    expect(await mcp.run('echo by digits', { sessionId: String(rpcId) })).toMatchObject({ content: 'by digits' });
    const { sessions, maxSessions, sessionIdleTimeout } = await mcp.facts<{
      sessions: object[];
      maxSessions: number;
      sessionIdleTimeout: number;
    }>('listSessions');
    expect({ maxSessions, sessionIdleTimeout }).toEqual({ maxSessions: 5, sessionIdleTimeout: 600 });
    expect(sessions).toMatchObject([
      { isDefault: true, status: 'running' },
      { sessionId, name: 'build', status: 'running', idleSeconds: 0 },
    ]);
  });

  test('R-TERM-032: the limit counts the default session and names the option; destroy says what happened', async () => {
    await using mcp = await Mcp.start({ args: ['--max-sessions=2'] });
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession');
    const refused = await mcp.call('createSession');
    expect(refused.isError).toBe(true);
    expect(refused.content[0]?.text).toMatch(/^Error: The limit of 2 sessions is reached\. .*--max-sessions/);
    const { sessions } = await mcp.facts<{ sessions: { sessionId: string }[] }>('listSessions');
    const main = sessions[0]?.sessionId;
    expect((await mcp.call('destroySession', { sessionId: main })).content[0]?.text).toBe(
      `Error: Session '${main}' is the default session and cannot be destroyed`,
    );
    expect((await mcp.call('destroySession', { sessionId: 'fffff' })).content[0]?.text).toBe(
      "Error: Session 'fffff' not found",
    );
    expect(await mcp.text('destroySession', { sessionId })).toBe(`Session '${sessionId}' destroyed`);
    const late = await mcp.call('type', { sessionId, text: 'x' });
    expect(late).toMatchObject({ isError: true, content: [{ text: 'Error: Terminal session has been disposed' }] });
    await mcp.facts('createSession');
  });

  test('R-TERM-033: a forgotten session is closed, a busy one is not', async () => {
    await using mcp = await Mcp.start({ args: ['--session-idle-timeout', '1'] });
    const idle = await mcp.facts<{ sessionId: string; pid: number }>('createSession');
    const busy = await mcp.facts<{ sessionId: string }>('createSession');
    await mcp.call('type', { sessionId: busy.sessionId, text: 'sleep 300', submit: true });
    const gone = `Error: Session '${idle.sessionId}' was closed after 1 s idle`;
    await expect
      .poll(
        async () => {
          const { sessions } = await mcp.facts<{ sessions: { sessionId: string }[] }>('listSessions');
          return sessions.map(({ sessionId }) => sessionId).includes(idle.sessionId);
        },
        { timeout: 10_000 },
      )
      .toBe(false);
    expect((await mcp.call('getContent', { sessionId: idle.sessionId })).content[0]?.text).toBe(gone);
    expect((await mcp.call('getContent', { sessionId: busy.sessionId })).isError).toBeFalsy();
    await expect.poll(() => alive(idle.pid)).toBe(false);
  });

  test('R-TERM-034: one default session under concurrent first calls; it starts again when its shell has exited', async () => {
    await using mcp = await Mcp.start();
    const answers = await Promise.all(Array.from({ length: 8 }, () => mcp.facts<{ sessionId: string }>('getContent')));
    expect(new Set(answers.map(({ sessionId }) => sessionId)).size).toBe(1);
    await mcp.call('type', { text: 'echo last words; exit 7', submit: true });
    await expect.poll(async () => (await mcp.facts<Read>('getContent')).status).toBe('exited');
    expect(await mcp.text('getContent')).toContain('last words');
    const { sessions } = await mcp.facts<{ sessions: object[] }>('listSessions');
    expect(sessions).toMatchObject([{ status: 'exited', exitCode: 7 }]);
    expect(await mcp.text('type', { text: 'echo again', submit: true })).toBe(
      'Typed 10 character(s) to terminal (its shell had exited and was started again)',
    );
    expect(await mcp.text('getContent', { lastCommand: true })).toBe('(exit code 0)\nagain');
  });

  test('a session that exited says so, and its last screen stays', async () => {
    await using mcp = await Mcp.start();
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession');
    await mcp.call('type', { sessionId, text: 'echo bye; kill -9 $$', submit: true });
    await expect.poll(async () => (await mcp.facts<Read>('getContent', { sessionId })).status).toBe('exited');
    const result = await mcp.call('type', { sessionId, text: 'x' });
    expect(result.content[0]?.text).toMatch(new RegExp(`^Error: Session '${sessionId}' was ended by SIGKILL\\.`));
    expect(await mcp.text('getContent', { sessionId })).toContain('bye');
  });

  test('R-TERM-032: sessions that are still starting count once', async () => {
    await using mcp = await Mcp.start({ env: { ENV: '' } });
    await mcp.call('type', { text: "echo 'sleep 0.5' >> ~/.bashrc", submit: true });
    await mcp.text('getContent');
    const made = await Promise.all(Array.from({ length: 4 }, () => mcp.call('createSession')));
    expect(made.map(({ isError }) => isError ?? false)).toEqual([false, false, false, false]);
    expect((await mcp.call('createSession')).isError).toBe(true);
  });

  test('R-TERM-034: a wait ends with an error when its session is destroyed', async () => {
    await using mcp = await Mcp.start();
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession');
    const waiting = mcp.call('getContent', { sessionId, waitFor: 'never', timeoutMs: 20_000 });
    await mcp.call('destroySession', { sessionId });
    expect(await waiting).toMatchObject({
      isError: true,
      content: [{ text: 'Error: Terminal session has been disposed' }],
    });
  });

  test('a shell or directory that is not there is named', async () => {
    await using mcp = await Mcp.start();
    expect((await mcp.call('createSession', { shell: '/no/such/shell' })).content[0]?.text).toMatch(
      /^Error: There is no program \/no\/such\/shell\./,
    );
    expect((await mcp.call('createSession', { cwd: '/no/such/dir' })).content[0]?.text).toMatch(
      /^Error: The working directory \/no\/such\/dir does not exist\./,
    );
    expect((await mcp.call('createSession', { shell: '/etc/passwd' })).content[0]?.text).toMatch(
      /^Error: \/etc\/passwd is not an executable file\./,
    );
    await using broken = await Mcp.start({ args: ['--shell', '/no/such/shell'] });
    expect((await broken.call('type', { text: 'x' })).content[0]?.text).toMatch(
      /^Error: There is no program \/no\/such\/shell\./,
    );
  });
});

test('--read-only offers only what looks, and says why the rest is refused', async () => {
  await using mcp = await Mcp.start({ args: ['--read-only', '--toolsets=terminal'] });
  const tools = (await mcp.request('tools/list', {})).result?.['tools'] as { name: string }[];
  expect(tools.map(({ name }) => name)).toEqual(['getContent', 'takeScreenshot', 'listSessions']);
  expect((await mcp.call('type', { text: 'x' })).content[0]?.text).toMatch(
    /^Error: type changes things, and this server was started read-only/,
  );
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
