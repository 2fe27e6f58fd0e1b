import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Mcp } from '../../support/mcp-client.ts';

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
    expect(hints['type']).toMatchObject({ readOnlyHint: false, destructiveHint: true, openWorldHint: true });
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
    expect((await mcp.call('getContent', { sessionId: null, maxLines: null })).isError).toBeFalsy();
    const faults: [string, unknown, string][] = [
      ['type', undefined, 'Error: text: is required (string)'],
      ['destroySession', {}, 'Error: sessionId: is required (string)'],
      ['destroySession', { sessionId: null }, 'Error: sessionId: is required (string)'],
      ['createSession', { env: { 'A=B': 'x' } }, 'Error: env: has a name that is empty or holds "="'],
      ['type', { text: 7 }, 'Error: text: must be a string, not a number'],
      ['sendKey', { key: 'Enter', repeat: 65 }, 'Error: repeat: must be at most 64'],
      ['createSession', { cols: 0 }, 'Error: cols: must be at least 2'],
      ['createSession', { env: { A: 1 } }, 'Error: env.A: must be a string, not a number'],
      ['getContent', { timeoutMs: 30_001 }, 'Error: timeoutMs: must be at most 30000'],
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
      capabilities: { tools: { listChanged: true }, prompts: expect.anything() },
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
    await expect
      .poll(() => mcp.lines.find((line) => line.includes('"id":900')) ?? '')
      .toContain('half of a surrogate pair');
    await expect.poll(() => mcp.text('getContent')).toMatch(/é🙂$/);
  });

  test('a text of 10 MB is refused in one line and the session lives on', async () => {
    await using mcp = await Mcp.start();
    const result = await mcp.call('type', { text: 'x'.repeat(10 << 20) });
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toMatch(/^Error: text: is over 1048576 bytes; [^\n]+$/);
    expect(await mcp.run('echo alive')).toMatchObject({ content: 'alive', exitCode: 0 });
  });

  test('R-TERM-040: a line that a program would get cut is refused whole', async () => {
    await using mcp = await Mcp.start();
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession', { shell: 'dash' });
    const line = (bytes: number): string => `true ${'a'.repeat(bytes - 'true  && touch cut'.length)} && touch cut`;
    const refused = await mcp.text('type', { sessionId, text: line(4096), submit: true });
    expect(refused).toMatch(
      /^Error: A line of 4096 bytes is too long for this program\. [^\n]*4095 bytes\. Nothing was typed/,
    );
    expect(await mcp.run('ls', { sessionId })).toMatchObject({ content: '', exitCode: 0 });
    expect(await mcp.run(line(4095), { sessionId })).toMatchObject({ exitCode: 0 });
    expect(await mcp.run('ls', { sessionId })).toMatchObject({ content: 'cut' });
    // A shell that edits lines itself takes any, and so does a program that takes keys; several lines are several.
    expect(await mcp.run(`printf %s ${'a'.repeat(9000)} | wc -c`)).toMatchObject({ content: '9000', exitCode: 0 });
    await mcp.call('type', { sessionId, text: `cat > lines <<E\n${`${'b'.repeat(2000)}\n`.repeat(5)}E`, submit: true });
    await expect.poll(() => statSync(join(mcp.home, 'lines'), { throwIfNoEntry: false })?.size).toBe(10_005);
  });

  test('R-TERM-043: arrows follow the mode the program set', async () => {
    await using mcp = await Mcp.start();
    // One process prints and reads: it has the terminal before it says so, and Ctrl+C reaches it.
    const cat = (prints: string): string => `stty -icanon; sh -c 'printf "${prints}"; exec cat -v'`;
    const shown = async (text: string): Promise<unknown> =>
      (await mcp.facts('getContent', { waitFor: text, timeoutMs: 20_000 }))['matched'];
    await mcp.call('type', { text: cat('\\033[?1hready\\n'), submit: true });
    expect(await shown('\nready')).toBe(true);
    await mcp.call('sendKey', { key: 'ArrowUp' });
    expect(await shown('^[OA')).toBe(true);
    await mcp.call('sendKey', { key: 'Ctrl+C' });
    await mcp.prompt();
    await mcp.call('type', { text: cat('\\033[?1lset\\n'), submit: true });
    expect(await shown('\nset')).toBe(true);
    await mcp.call('sendKey', { key: 'up', repeat: 2 });
    expect(await shown('^[[A^[[A')).toBe(true);
  });

  test('concurrent type calls do not interleave', async () => {
    await using mcp = await Mcp.start();
    await mcp.call('type', { text: 'stty -icanon -echo; cat > out', submit: true });
    await expect.poll(() => foreground(mcp)).toBe('cat');
    const bodies = ['a', 'b', 'c'].map((letter) => `${letter.repeat(2000)}\n`);
    await Promise.all(bodies.map((text) => mcp.call('type', { text })));
    const written = (): string => readFileSync(join(mcp.home, 'out'), 'latin1');
    await expect.poll(() => written().length).toBe(bodies.join('').length);
    expect(written().split('\n').sort()).toEqual(['', ...bodies.map((body) => body.trim())]);
  });

  test('a call that comes again with its key is done once', async () => {
    await using mcp = await Mcp.start();
    const again = async (key: string, name: string, args: object): Promise<unknown[]> => {
      const params = { name, arguments: args, _meta: { idempotency_key: key } };
      return [await mcp.request('tools/call', params), await mcp.request('tools/call', params)].map(
        ({ result }) => result,
      );
    };
    const [first, second] = await again('k1', 'createSession', {});
    expect(second).toEqual(first);
    await again('k2', 'type', { text: 'echo o' });
    await again('k3', 'type', { text: 'nce-$((40+2))' });
    await again('k4', 'sendKey', { key: 'Enter' });
    expect(await mcp.facts('getContent', { waitFor: 'once-42' })).toMatchObject({ matched: true });
    expect(await mcp.text('getContent')).not.toContain('echo oecho');
    expect((await mcp.facts<{ sessions: unknown[] }>('listSessions')).sessions).toHaveLength(2);
    const [ran, same] = await again('k5', 'terminal_run', { command: 'echo x >> count; wc -l < count' });
    expect(ran).toMatchObject({ structuredContent: { output: '1' } });
    expect(same).toMatchObject({ structuredContent: { output: '1' } });
  });

  test.each([
    [{}, 'Sent key: Ctrl+C'],
    [{ repeat: 2 }, 'Sent key: Ctrl+C (2 times)'],
  ])('Ctrl+C overtakes text that a stuck program does not read (%j)', async (options, says) => {
    await using mcp = await Mcp.start();
    await mcp.call('type', { text: 'stty -icanon -echo; sleep 1000; echo not reached', submit: true });
    await expect.poll(() => foreground(mcp)).toBe('sleep');
    const stuck = mcp.call('type', { text: 'x'.repeat(500_000) });
    // Whoever answers this has read the line before it.
    await foreground(mcp);
    expect(await mcp.text('sendKey', { key: 'Ctrl+C', ...options })).toBe(says);
    const { isError, content } = await stuck;
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(/^Error: Overtaken by Ctrl\+C; only a part of 500000 bytes was typed\./);
    await expect.poll(() => foreground(mcp)).toBe('bash');
    // A second Ctrl+C may hit the shell in its own prompt, which it then does not draw again.
    const runs = async (): Promise<unknown> => (await mcp.facts('getContent', { lastCommand: true }))['commandRunning'];
    await expect.poll(runs).toBe(false);
    expect(await mcp.text('getContent')).not.toMatch(/^not reached/m);
  });
});

/** The program that has the default session's terminal. */
async function foreground(mcp: Mcp): Promise<unknown> {
  return (await mcp.facts<{ sessions: { foreground: string }[] }>('listSessions')).sessions[0]?.foreground;
}

test('--read-only offers only what looks, and says why the rest is refused', async () => {
  await using mcp = await Mcp.start({ args: ['--read-only', '--toolsets=terminal'] });
  const tools = (await mcp.request('tools/list', {})).result?.['tools'] as { name: string }[];
  expect(tools.map(({ name }) => name)).toEqual(['getContent', 'takeScreenshot', 'listSessions']);
  expect((await mcp.call('type', { text: 'x' })).content[0]?.text).toMatch(
    /^Error: type changes things, and this server was started read-only/,
  );
});
