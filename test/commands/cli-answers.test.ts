import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, Served } from '../support/served.ts';
import { listenTcp } from '../support/tcp.ts';

/** Not where it would be looked for by default. */
const elsewhere = mkdtempSync(join(tmpdir(), 'fl-elsewhere-'));
let served: Served;
let env: Record<string, string>;

beforeAll(async () => {
  served = await Served.start(['--port', '0', '--rpc-port', '0'], { FAIRLEAD_HOME: elsewhere });
  env = { PATH: process.env['PATH'] ?? '', HOME: served.home, LANG: 'C.UTF-8', FAIRLEAD_HOME: elsewhere };
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  rmSync(elsewhere, { recursive: true, force: true });
});

const fairlead = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr });
    });
  });
const answer = async (...args: string[]) => JSON.parse((await fairlead(...args, '--json')).stdout);

test('a name, a title, a command cannot work on the terminal that shows it', async () => {
  const name = 'a\x1b[31mRED\x1b]0;evil\x07\nline2\x9b2J';
  const { id } = await answer('session', 'create', '--name', name);
  await fairlead('instance', 'set-title', 't\x1b[31mX\nY');
  await fairlead('exec', 'run', String(id), "echo '\x9b31m'");
  const shown = await Promise.all([
    fairlead('session', 'list'),
    fairlead('session', 'get', String(id)),
    fairlead('instance', 'list'),
    fairlead('session', 'audit-log'),
    fairlead('session', 'list', '--json'),
    fairlead('session', 'text'),
    fairlead('session', 'get', '\x1b[31m9'),
  ]);
  for (const { stdout, stderr } of shown) expect(stdout + stderr).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
  // One line for each session, whatever it is called.
  expect(shown[0]?.stdout.trimEnd().split('\n')).toHaveLength(2);
  expect(JSON.parse(shown[4]?.stdout ?? '').sessions.map((one: { name?: string }) => one.name)).toContain(name);
  expect(shown[5]?.stderr).toContain('Several sessions are open. Say which with --session: 0 (');
  expect(shown[5]?.stderr).toContain(`${id} (a\\u001b[31mRED`);
  await fairlead('session', 'destroy', String(id));
});

test('a policy that only blocks, then one that only allows, then none', async () => {
  expect(
    await fairlead('policy', 'set', '--enabled', '--blocked-patterns', 'rm -rf /', '--blocked-patterns', 'cmd:dd'),
  ).toMatchObject({ code: 0 });
  expect(await answer('policy', 'get')).toMatchObject({
    enabled: true,
    blocked_patterns: ['rm -rf /', 'cmd:dd'],
    allowed_patterns: [],
  });
  await fairlead('policy', 'set', '--enabled', '--blocked-patterns', '', '--allowed-patterns', 'cmd:ls');
  expect(await answer('policy', 'get')).toMatchObject({ blocked_patterns: [], allowed_patterns: ['cmd:ls'] });
  await fairlead('policy', 'set', '--enabled=false', '--allowed-patterns', '[]');
  expect(await answer('policy', 'get')).toMatchObject({ enabled: false, blocked_patterns: [], allowed_patterns: [] });
});

test('nodes of a proxy are JSON', async () => {
  const nodes = '[{"name":"home","url":"http://127.0.0.1:9"}]';
  expect(await fairlead('proxy', 'configure', '--nodes', nodes)).toMatchObject({ code: 0 });
  expect((await answer('proxy', 'nodes')).nodes).toMatchObject([{ name: 'home' }]);
  await fairlead('proxy', 'disable');
});

test('inside a session the command line finds its own instance, and may look at its own session (R-RPC-008, R-RPC-151)', async () => {
  const inside = async (line: string): Promise<string> =>
    (await fairlead('exec', 'wait', '--session', '0', `${process.execPath} ${program} ${line}`)).stdout;
  expect(await inside('session list')).toMatch(/^ {2}0 {2}running/);
  expect(await inside('session cwd')).toContain(process.cwd());
  expect(await inside('session resize --cols 80 --rows 20')).toContain('There is no session');
});

test('the words of a command need no quotes where nothing else can be meant', async () => {
  const ran = async (...args: string[]): Promise<string> => (await fairlead('exec', 'wait', ...args)).stdout.trim();
  expect(await ran('0', 'echo', '-n', 'a', 'b')).toBe('a b');
  expect(await ran('--', 'echo', '--json', '-h')).toBe('--json -h');
  expect(await ran('0', '--', 'echo', '--passthrough')).toBe('--passthrough');
  expect(await ran('0', 'printf 1', '--timeout-ms', '9000')).toBe('1');
  expect(await ran('--queue', 'printf 2')).toBe('2');
  const ambiguous = [
    ['0', 'echo', 'a', '--passthrough'],
    ['0', 'echo', '--nonsense'],
    ['echo', 'a'],
  ];
  for (const args of ambiguous) {
    expect(await fairlead('exec', 'wait', ...args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Quote a command of several words, or put -- before it.') as string,
    });
  }
});

test('what every verb takes may stand before it (R-RPC-151)', async () => {
  expect((await fairlead('--instance', 'alpha', 'session', 'list')).stdout).toMatch(/^ {2}0 {2}running/);
  expect((await fairlead('--json', `--home=${elsewhere}`, 'session', 'list')).stdout).toMatch(/^\{/);
  expect((await fairlead('--session', '0', 'exec', 'wait', 'printf here')).stdout).toBe('here\n');
  expect(await fairlead('--instance', 'zulu', 'session', 'list')).toMatchObject({ code: 3 });
  expect((await fairlead('--home', elsewhere, 'recordings', 'list')).stdout).toContain('No recordings');
});

test('session input types what it is given, and presses Enter with --enter', async () => {
  await fairlead('session', 'input', '0', 'echo typed-$((1+1))', '--enter');
  await expect.poll(async () => (await fairlead('session', 'text', '0')).stdout).toMatch(/^typed-2$/m);
});

test('session env: the value alone, a secret, one that is not set', async () => {
  const plain = 'x'.repeat(100);
  const { id } = await answer('session', 'create', '--env', `PLAIN=${plain}`, '--env', 'MY_TOKEN=hidden');
  const shown = async (...args: string[]): Promise<string> =>
    (await fairlead('session', 'env', String(id), ...args)).stdout;
  expect(await shown('PLAIN')).toBe(`${plain}\n`);
  expect(await shown('MY_TOKEN')).toBe('(a secret; --reveal shows it)\n');
  expect(await shown('NOBODY')).toBe('(not set)\n');
  expect(await shown()).toContain(`\nPLAIN=${plain}\n`);
  await fairlead('session', 'destroy', String(id));
});

test('what cannot be done as a key says how it can be; what was cut says so', async () => {
  expect((await fairlead('exec', 'signal', '0', 'TERM')).stderr).toContain('--mode process');
  await fairlead('instance', 'set-title', 'long '.repeat(30).trim());
  expect((await fairlead('instance', 'list')).stdout).toContain('(cut; --json shows everything)');
});

test('an error nobody foresaw gives its advice once', async () => {
  const hint = 'Try once more.';
  await using failing = await listenTcp((socket) => {
    socket.on('data', (chunk: Buffer) => {
      const { id, method } = JSON.parse(chunk.toString()) as { id: number; method: string };
      const error = { code: -32603, message: `It broke. ${hint}`, data: { code: 'INTERNAL', hint } };
      socket.write(`${JSON.stringify({ id, ...(method === 'auth.login' ? { result: {} } : { error }) })}\n`);
    });
  });
  const home = join(elsewhere, 'failing');
  mkdirSync(home);
  const words = { started_at: '', auth_token: 't', cwd: '/', version: '1', platform: 'linux' };
  const record = { id: 'x', pid: process.pid, mcp_port: failing.port, http_port: 1, title: null, ...words };
  writeFileSync(join(home, 'server.json'), JSON.stringify(record));
  expect(await fairlead('server', 'info', '--home', home)).toMatchObject({
    code: 1,
    stderr: `fairlead: It broke. ${hint}\n`,
  });
});
