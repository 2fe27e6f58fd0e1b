import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '@modelcontextprotocol/client';
import { Mcp } from '../support/mcp-client.ts';
import { RpcClient } from '../support/rpc.ts';
import { Served } from '../support/served.ts';

let served: Served;
beforeAll(async () => {
  served = await Served.start();
});
afterAll(async () => await served[Symbol.asyncDispose]());

const linesOf = (file: string): string[] => readFileSync(join(served.home, file), 'utf8').trimEnd().split('\n');

interface Held {
  readonly isError?: boolean;
  readonly structuredContent: Readonly<Record<string, unknown>>;
  readonly content: readonly { readonly text: string }[];
}
const tool = async (client: Client, name: string, input: Record<string, unknown>): Promise<Held> =>
  (await client.callTool({ name, arguments: input })) as unknown as Held;

interface Agents {
  readonly pause: { readonly held: number } | null;
  readonly conversations: {
    readonly id: string;
    readonly agent: string;
    readonly state: string;
    readonly held: { readonly preview: string }[];
    readonly connected?: boolean;
    readonly counts: object;
  }[];
}
const patiently = { timeout: 20_000, interval: 100 };
const heldNow = async () => (await agents()).conversations.flatMap(({ held }) => held);
const agents = async (): Promise<Agents> => JSON.parse(await served.fairlead(['agents', '--json'])) as Agents;

test.each(['legacy', 'auto'] as const)(
  'MCP over HTTP (%s): a call is held, queued once, and runs once when the person resumes; reads are refused (R-HUB-074, R-HUB-076)',
  async (mode) => {
    const client = await served.connect(served.token, mode);
    const file = `mcp-${mode}.txt`;
    const run = (word: string): Promise<Held> => tool(client, 'terminal_run', { command: `echo ${word} >> ~/${file}` });
    expect((await run('before')).structuredContent).toMatchObject({ exitCode: 0 });
    expect(await served.fairlead(['agents', 'pause'])).toContain('Everything is paused by person');

    const first = await run('one');
    expect(first.isError).toBe(true);
    expect(first.content[0]?.text).toMatch(/^\[held: conversation is paused\. .*Do not retry in a tight loop/);
    expect(first.structuredContent).toMatchObject({
      status: 'held',
      code: 'held',
      conversation_id: expect.stringMatching(/^c-/),
      hold_id: expect.stringMatching(/^h-/),
      retry_after_s: 30,
    });
    await run('two');
    expect((await run('one')).structuredContent).toMatchObject({ hold_id: first.structuredContent['hold_id'] });
    const read = await tool(client, 'terminal_read', {});
    expect(read).toMatchObject({ isError: true, structuredContent: { status: 'held' } });
    expect(read.content[0]?.text).toMatch(/^\[held: conversation is paused\. Reads/);
    // Each book has these words.
    expect((await tool(client, 'ssh_sessions', {})).content[0]?.text).toMatch(/^\[held:/);
    expect((await tool(client, 'getContent', {})).content[0]?.text).toMatch(/^\[held:/);
    const { resources } = await client.listResources().catch((error: unknown) => ({ resources: error }));
    expect(resources).toMatchObject({ message: expect.stringContaining('[held: conversation is paused. Reads') });
    expect(resources).toMatchObject({ data: { status: 'held', code: 'held' } });
    // A person goes on.
    await served.fairlead(['exec', 'wait', '0', `echo person >> ~/${file}`]);
    expect(linesOf(file)).toEqual(['before', 'person']);
    expect((await agents()).pause).toMatchObject({ held: 2 });

    expect(await served.fairlead(['agents', 'resume'])).toContain('Held calls that run now: 2; dropped: 0.');
    await expect.poll(heldNow, patiently).toEqual([]);
    expect(linesOf(file)).toEqual(['before', 'person', 'one', 'two']);
    const answer = await run('one');
    expect(answer).toMatchObject({ structuredContent: { exitCode: 0, command: `echo one >> ~/${file}` } });
    expect(JSON.stringify(answer)).toContain('It was not run again');
    expect(linesOf(file)).toHaveLength(4);
    await client.close();
  },
);

test('JSON-RPC and HTTP carry the same words and facts; the order of calls holds (R-HUB-072, R-HUB-074)', async () => {
  const { mcp_port: port, auth_token: token } = JSON.parse(
    readFileSync(/auth_token in (\S+)/.exec(served.out)?.[1] ?? '', 'utf8'),
  ) as { mcp_port: number; auth_token: string };
  using rpc = await RpcClient.connect(port);
  await rpc.call('auth.login', { token, client: { name: 'script' } });
  await rpc.call('exec.run_wait', { id: 0, command: 'echo before >> ~/rpc.txt' });
  const mine = (await agents()).conversations.find(({ agent }) => agent === 'script');
  expect(mine).toMatchObject({ state: 'approved', connected: true });
  await served.fairlead(['agents', 'pause', mine?.id ?? '']);

  const run = (word: string) => rpc.ask('exec.run_wait', { id: 0, command: `echo ${word} >> ~/rpc.txt` });
  const { error } = await run('one');
  expect(error?.message).toMatch(/^\[held: conversation is paused\./);
  expect(error?.data).toMatchObject({ code: 'HELD', status: 'held', conversation_id: mine?.id, retry_after_s: 30 });
  await run('two');
  expect((await run('one')).error?.data).toMatchObject({ hold_id: error?.data?.['hold_id'] });
  expect((await rpc.ask('screen.text', { id: 0 })).error?.message).toMatch(/^\[held:.*Reads are not queued/);
  // Others go on: only this client is paused.
  await served.fairlead(['exec', 'wait', '0', 'echo person >> ~/rpc.txt']);
  await served.fairlead(['agents', 'resume', mine?.id ?? '']);
  await expect.poll(heldNow, patiently).toEqual([]);
  expect(linesOf('rpc.txt')).toEqual(['before', 'person', 'one', 'two']);
  expect((await run('two')).result).toMatchObject({ exit_code: 0 });
  expect(linesOf('rpc.txt')).toHaveLength(4);

  // HTTP with the token is another client.
  const origin = served.url.replace(/\/mcp$/, '');
  const post = (path: string, body: object) =>
    fetch(`${origin}/api/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'user-agent': 'curl/8' },
      body: JSON.stringify(body),
    });
  expect((await post('agents/pause', {})).status).toBe(200);
  const held = await post('terminal/run', { command: 'echo http >> ~/http.txt' });
  expect(held.status).toBe(423);
  expect(held.headers.get('retry-after')).toBe('30');
  expect(await held.json()).toMatchObject({
    error: { code: 'held', retry: true, message: expect.stringMatching(/^\[held:/), data: { status: 'held' } },
  });
  // What belongs to the person is never held, whoever calls it.
  const resumed = await post('agents/resume', {});
  expect(await resumed.json()).toMatchObject({ running: [expect.stringMatching(/^h-/)] });
  await expect.poll(heldNow, patiently).toEqual([]);
  expect(linesOf('http.txt')).toEqual(['http']);
});

test('a restart keeps the pause and drops what waited, and the timeline says so (R-HUB-072)', async () => {
  await using own = await Served.start();
  const client = await own.connect();
  await own.fairlead(['agents', 'pause']);
  expect((await tool(client, 'terminal_run', { command: 'touch ~/never' })).isError).toBe(true);
  await client.close();
  await own.end('SIGKILL');
  await own.restart();
  const again = await own.connect();
  expect((await tool(again, 'terminal_run', { command: 'true' })).structuredContent).toMatchObject({ status: 'held' });
  const { calls } = JSON.parse(await own.fairlead(['calls', '--text', 'touch', '--json'])) as { calls: object[] };
  expect(calls).toMatchObject([{ phase: 'dropped', ended: 'the server was ended', preview: 'touch ~/never' }]);
  await own.fairlead(['agents', 'resume', '--held', 'drop']);
  const { structuredContent } = await tool(again, 'terminal_run', { command: 'ls ~/never' });
  expect(structuredContent).toMatchObject({ exitCode: 2 });
  await again.close();
});

test('MCP on stdio: the person pauses and resumes from another window', async () => {
  await using mcp = await Mcp.start();
  const run = (word: string) => mcp.call('terminal_run', { command: `echo ${word} >> ~/log.txt` });
  await run('before');
  const env = { HOME: mcp.home, FAIRLEAD_HOME: join(mcp.home, '.fairlead') };
  expect(await served.fairlead(['agents', 'pause'], env)).toContain('Everything is paused');
  expect(await run('one')).toMatchObject({ isError: true, structuredContent: { status: 'held' } });
  expect(await run('one')).toMatchObject({ isError: true, structuredContent: { status: 'held' } });
  await served.fairlead(['agents', 'resume'], env);
  await expect.poll(async () => (await run('one')).structuredContent, patiently).toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(mcp.home, 'log.txt'), 'utf8')).toBe('before\none\n');
});

test('a command that runs goes on while everything is paused; it is stopped on its own (R-HUB-078)', async () => {
  const client = await served.connect();
  const opened = await tool(client, 'terminal_open', {});
  const terminal = String(opened.structuredContent['terminal']);
  await tool(client, 'terminal_run', { terminal, command: 'sleep 300', timeoutMs: 300 });
  const stubborn = await tool(client, 'terminal_open', {});
  const other = String(stubborn.structuredContent['terminal']);
  const deaf = `bash -c 'trap "" TERM; sleep 301 & wait; while :; do sleep 1; done'`;
  await tool(client, 'terminal_run', { terminal: other, command: deaf, timeoutMs: 500 });
  expect(await served.fairlead(['agents', 'pause'])).toContain('Commands that go on: 2.');
  const watched = JSON.parse(await served.fairlead(['running', '--json'])) as { commands: { command: string }[] };
  expect(watched.commands.map(({ command }) => command)).toEqual(['sleep 300', deaf]);
  const { commands } = JSON.parse(await served.fairlead(['running', 'stop', '--json'])) as {
    commands: { terminal: string; outcome: string }[];
  };
  expect(commands.map(({ terminal: id, outcome }) => [id, outcome])).toEqual([
    [terminal, 'ended'],
    [other, 'killed'],
  ]);
  expect(await served.fairlead(['running'])).toBe('No command of an agent is running.\n');
  await served.fairlead(['agents', 'resume']);
  await client.close();
});

test('a row knows the command it started, its exit code, and its place in the output and the recording (R-HUB-085)', async () => {
  const client = await served.connect();
  const terminal = String((await tool(client, 'terminal_open', {})).structuredContent['terminal']);
  const recording = await tool(client, 'startRecording', { sessionId: terminal });
  await tool(client, 'terminal_run', { terminal, command: 'echo fir""st; exit_with() { return $1; }; exit_with 3' });
  const asked = await served.fairlead(['calls', '--terminal', terminal, '--kind', 'commands', '--json']);
  const { calls } = JSON.parse(asked) as { calls: Record<string, unknown>[] };
  const row = calls.find(({ op }) => op === 'terminal.run') ?? {};
  const { id, t } = row['recording'] as { id: string; t: number };
  expect(row).toMatchObject({ phase: 'executed', exit: 3, block: expect.any(Number), terminal });
  expect(Number(row['to'])).toBeGreaterThan(Number(row['from']));
  expect(JSON.stringify(recording)).toContain(id);
  // The moment is before the command; what it printed comes behind it.
  await tool(client, 'stopRecording', { recordingId: id });
  const played = await served.fairlead(['replay', 'range', id, String(t), '1000', '--json']);
  expect(played).toContain('first');
  await client.close();
});

test('ending all terminals needs the word, ends them and pauses everything', async () => {
  await using own = await Served.start();
  const client = await own.connect();
  await tool(client, 'terminal_open', {});
  expect(await own.fairlead(['terminals', 'end', 'yes'])).toContain('must be the word end');
  expect(await own.fairlead(['terminals', 'end', 'end'])).toMatch(/^Ended [23] terminals\. Everything is paused\.\n$/);
  expect((await tool(client, 'terminal_list', {})).content[0]?.text).toMatch(/^\[held:/);
  await own.fairlead(['agents', 'resume']);
  expect((await tool(client, 'terminal_run', { command: 'echo back' })).structuredContent).toMatchObject({
    exitCode: 0,
  });
  await client.close();
});
