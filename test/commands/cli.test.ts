import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession } from '../support/pty-session.ts';

const program = join(import.meta.dirname, '..', '..', 'bin', 'fairlead.js');
const home = mkdtempSync(join(tmpdir(), 'fairlead-cli-'));
const env = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: home,
  LANG: 'C.UTF-8',
  SHELL: '/bin/bash',
  PS1: '$ ',
  FAIRLEAD_HOME: join(home, '.fairlead'),
};
let server: ChildProcess;

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `fairlead …` as a person or a script would run it. */
function fairlead(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env: { ...env, ...more } }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr });
    });
  });
}

beforeAll(async () => {
  server = spawn(
    process.execPath,
    [program, 'serve', '--port', '0', '--rpc-port', '0', '--max-sessions', '20', '--keep-terminals=false'],
    {
      env,
      cwd: home,
    },
  );
  await once(server.stdout ?? expect.unreachable(), 'data');
});
afterAll(async () => {
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(home, { recursive: true, force: true });
});

test('help alone leads a newcomer: overview, noun, verb', async () => {
  const overview = await fairlead(['--help']);
  expect(overview.stdout).toContain('session, exec, screen');
  const noun = await fairlead(['session', '--help']);
  expect(noun).toMatchObject({ code: 0 });
  expect(noun.stdout).toContain('create');
  const verb = await fairlead(['exec', 'wait', '--help']);
  expect(verb.stdout).toContain('fairlead exec wait [session] <command>… [options]');
  expect(verb.stdout).toContain('--timeout-ms <number>');
  expect((await fairlead(['session'])).code).toBe(2);
});

test('list, create, run, read, destroy; --json everywhere', async () => {
  expect((await fairlead(['session', 'list'])).stdout).toMatch(/^ {2}0 {2}running {4}120x30 /);
  const made = JSON.parse(
    (await fairlead(['session', 'create', '--name', 'work', '--env', 'A=1', '--env', 'B=2 3', '--json'])).stdout,
  );
  expect(made).toMatchObject({ cols: 120, rows: 30 });
  const id = String(made.id);
  expect(await fairlead(['exec', 'wait', id, 'echo $A $B'])).toMatchObject({ code: 0, stdout: '1 2 3\n' });
  expect((await fairlead(['session', 'text', '--session', id])).stdout).toContain('1 2 3');
  expect(JSON.parse((await fairlead(['screen', 'search', id, '2 3', '--json'])).stdout)).toMatchObject({ total: 1 });
  expect((await fairlead(['session', 'destroy', id])).code).toBe(0);
  expect(await fairlead(['session', 'destroy', id])).toMatchObject({
    code: 4,
    stderr: `fairlead: Session ${id} not found.\n`,
  });
});

test('exit codes: usage 2, not found 4, policy 5, timeout 6, the command with --passthrough (R-RPC-152)', async () => {
  expect((await fairlead(['session', 'lst'])).stderr).toContain('Did you mean list?');
  expect((await fairlead(['session', 'resize', '0', 'x', 'y'])).code).toBe(2);
  expect((await fairlead(['session', 'get', '77'])).code).toBe(4);
  expect((await fairlead(['exec', 'wait', '0', 'sh -c "exit 9"', '--passthrough'])).code).toBe(9);
  expect((await fairlead(['exec', 'wait', '0', 'sh -c "exit 9"'])).code).toBe(0);
  expect((await fairlead(['exec', 'wait', '0', 'sleep 2', '--timeout-ms', '100'])).code).toBe(6);
  await fairlead(['exec', 'cancel', '0']);
  expect((await fairlead(['orchestrate', 'wait', '0', 'never shown', '--timeout-ms', '100'])).code).toBe(6);
  const failed = await fairlead(['session', 'get', '77', '--json']);
  expect(JSON.parse(failed.stdout)).toEqual({
    error: { code: -32603, message: 'Session 77 not found', data: { terminal: '77', code: 'SESSION_NOT_FOUND' } },
  });
  await fairlead(['policy', 'set', '--enabled', '--blocked-patterns', 'forbidden', '--allowed-patterns', 'cmd:echo']);
  expect(await fairlead(['exec', 'run', '0', 'echo forbidden'])).toMatchObject({ code: 5 });
  expect((await fairlead(['policy', 'check', 'echo forbidden'])).code).toBe(5);
  expect((await fairlead(['policy', 'check', 'echo fine'])).code).toBe(0);
  await fairlead(['policy', 'set', '--enabled=false', '--blocked-patterns', 'x', '--allowed-patterns', 'y']);
});

test('a command that never ran, or waits for somebody, is no success (R-RPC-152)', async () => {
  for (const passthrough of [[], ['--passthrough']]) {
    expect((await fairlead(['exec', 'wait', '0', 'echo "unfinished', ...passthrough])).code).toBe(1);
    await fairlead(['exec', 'cancel', '0']);
  }
  expect((await fairlead(['exec', 'wait', '0', 'read -s -p "Password: " x'])).code).toBe(5);
  await fairlead(['exec', 'cancel', '0']);
  expect(await fairlead(['exec', 'wait', '0', 'echo after'])).toMatchObject({ code: 0, stdout: 'after\n' });
});

test.each([
  [['nope', '--json'], 2, 'There is no command "nope".'],
  [['--json', 'nope'], 2, 'There is no command "nope".'],
  [['session', '--json'], 2, 'Say what to do: list, '],
  [['session', 'lst', '--json'], 2, 'There is no session lst. Did you mean list?'],
  [['audit', '--json'], 2, 'Say what to do: fairlead audit verify'],
  [['answer', '--json'], 4, 'Nothing waits for you.'],
])('%j fails in JSON, too (R-RPC-151)', async (args, code, message) => {
  const failed = await fairlead(args);
  expect(failed).toMatchObject({ code, stderr: '' });
  expect(JSON.parse(failed.stdout).error).toMatchObject({ code: expect.any(Number), data: expect.anything() });
  expect(JSON.parse(failed.stdout).error.message).toContain(message);
});

test('policy alone shows the policy (R-RPC-150)', async () => {
  expect(JSON.parse((await fairlead(['policy', '--json'])).stdout)).toMatchObject({ enabled: false });
  expect(await fairlead(['policy'])).toEqual(await fairlead(['policy', 'get']));
});

test('a switch may be told off: --json=false', async () => {
  expect((await fairlead(['session', 'list', '--json=false'])).stdout).toMatch(/^ {2}0 {2}running/);
  expect((await fairlead(['session', 'list', '--json=true'])).stdout).toMatch(/^\{/);
  expect((await fairlead(['session', 'get', '77', '--json=true'])).stdout).toMatch(/^\{/);
  expect((await fairlead(['audit', 'verify', '--json=false'])).stdout).toContain('nothing was changed');
  expect((await fairlead(['exec', 'wait', '0', 'sh -c "exit 9"', '--passthrough=false'])).code).toBe(0);
  expect((await fairlead(['session', 'list', '--json=maybe'])).code).toBe(2);
});

test('what was forgotten is said, however many sessions are open', async () => {
  const { id } = JSON.parse((await fairlead(['session', 'create', '--json'])).stdout);
  for (const words of [['0', 'FOO'], ['FOO']]) {
    const { code, stderr } = await fairlead(['session', 'set-env', ...words]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('The value is missing') as string });
  }
  expect((await fairlead(['session', 'set-env', '0', 'FOO', ''])).code).toBe(0);
  await fairlead(['session', 'destroy', String(id)]);
});

test('which session: the only one, never one’s own, else say which (R-RPC-151)', async () => {
  expect(await fairlead(['exec', 'wait', 'echo alone'])).toMatchObject({ code: 0, stdout: 'alone\n' });
  const [own] = JSON.parse((await fairlead(['session', 'list', '--json'])).stdout).sessions;
  expect((await fairlead(['exec', 'wait', 'echo me'], { FAIRLEAD_SESSION: own.terminal })).stderr).toContain(
    'There is no session.',
  );
  const made = JSON.parse((await fairlead(['session', 'create', '--json'])).stdout);
  const unsure = await fairlead(['exec', 'wait', 'echo which']);
  expect(unsure.code).toBe(2);
  expect(unsure.stderr).toContain('Say which with --session: 0 (');
  await fairlead(['session', 'destroy', String(made.id)]);
});

test('a session by its name, for every verb that takes one', async () => {
  await fairlead(['session', 'create', '--name', 'build']);
  const run = ['exec', 'wait', '--session', 'build', 'sh -c "echo named; exit 3"', '--passthrough'];
  expect(await fairlead(run)).toMatchObject({ code: 3, stdout: 'named\n' });
  expect(await fairlead(['exec', 'wait', 'build', 'echo first word'])).toMatchObject({ stdout: 'first word\n' });
  expect((await fairlead(['session', 'text', 'build'])).stdout).toContain('first word');
  const missing = await fairlead(['session', 'text', '--session', 'biuld']);
  expect(missing.code).toBe(4);
  expect(missing.stderr).toMatch(/^fairlead: There is no session biuld\. Open: 0.* \(build\)/);
  const all = [
    'orchestrate',
    'broadcast',
    '--command',
    'echo to all',
    '--sessions',
    'build',
    '--sessions',
    '0',
    '--wait',
    '--json',
  ];
  expect(JSON.parse((await fairlead(all)).stdout).results).toMatchObject([
    { session_id: expect.stringMatching(/^[1-9]\d*$/) as string, sent: true },
    { session_id: '0', sent: true },
  ]);
  expect((await fairlead(['instance', 'focus', '--session-id', 'build'])).code).toBe(0);
  expect((await fairlead(['session', 'destroy', 'build'])).code).toBe(0);
});

test('screenshot prints a path; all sessions, one by its name, a region with its text, the clipboard (R-RPC-150)', async () => {
  const made = JSON.parse((await fairlead(['session', 'create', '--name', 'seen', '--json'])).stdout);
  await fairlead(['exec', 'wait', 'seen', 'echo shown-here']);
  const all = await fairlead(['screenshot']);
  expect(all).toMatchObject({ code: 0, stderr: '' });
  expect(all.stdout).toMatch(/\/screenshots\/screen_\d{8}_\d{6}_\d{3}\.png\n$/);
  expect(readFileSync(all.stdout.trim()).subarray(1, 4).toString()).toBe('PNG');
  expect((await fairlead(['screenshot', 'window', 'seen'])).stdout).toMatch(/\/window_\w+\.png\n$/);
  const window = JSON.parse((await fairlead(['capture', 'window', '--json', '--title', 'seen'])).stdout);
  expect(window).toMatchObject({
    session_id: String(made.id),
    screen: expect.stringContaining('shown-here') as string,
  });
  const region = await fairlead(['screenshot', 'region', '--pattern', 'shown-here', '--context', '0']);
  expect(region.stdout).toMatch(/\/region_\w+\.png\n.*shown-here\n$/);
  expect((await fairlead(['screenshot', 'region', 'seen', '--row', '999999'])).stderr).toContain(
    'There is no row 999999',
  );
  expect((await fairlead(['capture', 'clipboard', 'some words'])).code).toBe(0);
  expect((await fairlead(['capture', 'clipboard'])).stdout).toBe('some words\n');
  expect((await fairlead(['session', 'destroy', 'seen'])).code).toBe(0);
});

test('which instance: by name, and what to do when there is none (R-RPC-151)', async () => {
  expect((await fairlead(['instance', 'list', '--json'])).stdout).toContain('"id": "alpha"');
  expect((await fairlead(['server', 'info', '--instance', 'alpha'])).code).toBe(0);
  expect(await fairlead(['server', 'info', '--instance', 'zulu'])).toMatchObject({ code: 3 });
  const nowhere = await fairlead(['server', 'info'], { FAIRLEAD_HOME: join(home, 'empty') });
  expect(nowhere).toMatchObject({
    code: 3,
    stderr: 'fairlead: You have no running Fairlead server. Start one with: fairlead serve\n',
  });
});

test('names of the reference: server selftest and mcp-stdio (R-RPC-150)', async () => {
  expect((await fairlead(['server', '--help'])).stdout).toContain('selftest');
  const { ok, checks } = JSON.parse((await fairlead(['server', 'selftest', '--json'])).stdout) as {
    ok: boolean;
    checks: unknown[];
  };
  expect(ok).toBe(true);
  expect(checks.length).toBeGreaterThan(5);
  expect((await fairlead(['mcp-stdio', '--help'])).stdout).toBe((await fairlead(['mcp', '--help'])).stdout);
});

test('with --json a wrong use is answered as JSON too, and exits with 2 (R-RPC-151, R-RPC-152)', async () => {
  for (const args of [
    ['session', 'creat', '--json'],
    ['session', 'list', '--jsn', '--json'],
    ['exec', 'run', '0', 'ls', 'more', '--json'],
    ['session', 'resize', '0', '--cols', 'wide', '--json'],
  ]) {
    const { code, stdout, stderr } = await fairlead(args);
    expect({ code, stderr }, args.join(' ')).toEqual({ code: 2, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: -32602, data: { code: 'INVALID_PARAMS' } } });
  }
  expect(await fairlead(['session', 'creat'])).toMatchObject({ code: 2, stdout: '' });
});

test('help tells the default of the command it is about', async () => {
  const line = async (command: string) =>
    /--max-sessions .*/.exec((await fairlead([command, '--help'])).stdout)?.[0] ?? '';
  expect(await line('serve')).toContain('(200)');
  expect(await line('mcp')).toContain('(5)');
});

test('audit verify: whole, then edited', async () => {
  expect((await fairlead(['audit', 'verify'])).stdout).toMatch(/^✓ \d+ records by 1 server: nothing was changed/);
  const folder = join(home, '.fairlead', 'audit');
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '');
  appendFileSync(file, '{"forged":true}\n');
  const broken = await fairlead(['audit', 'verify', '--json']);
  expect(broken.code).toBe(1);
  expect(JSON.parse(broken.stdout)).toMatchObject({ ok: false, faults: [{ reason: 'it is not a record' }] });
});

test('attach: see the session, type into it, leave it with Ctrl+], and it goes on', async () => {
  const made = JSON.parse((await fairlead(['session', 'create', '--name', 'seat', '--json'])).stdout);
  await fairlead(['exec', 'wait', String(made.id), 'echo before']);
  await using pty = await openSession([process.execPath, program, 'attach', 'seat'], env);
  await pty.until('before');
  await pty.type('echo typed-$((40+2))\r');
  await pty.until('typed-42');
  // What was typed may not be over yet.
  await fairlead(['exec', 'wait', String(made.id), '--queue', 'echo from elsewhere']);
  await pty.until('from elsewhere');
  expect(JSON.parse((await fairlead(['instance', 'focus', '--json'])).stdout)).toEqual({ ok: true, delivered: 1 });
  await pty.until('\x07');
  await pty.type('\x1d');
  expect(await pty.ended).toEqual({ by: 'exit', code: 0 });
  expect((await fairlead(['session', 'get', String(made.id), '--json'])).stdout).toContain('"is_dead": false');
  expect((await fairlead(['attach'])).stderr).toContain('needs a terminal');
});

test('children know where they live, and the record follows the first session (R-RPC-008, R-RPC-013)', async () => {
  const where = await fairlead(['exec', 'wait', '0', 'echo $FAIRLEAD_INSTANCE $FAIRLEAD_SESSION; cd /usr']);
  expect(where.stdout).toMatch(/^alpha [0-9a-f]{5}\n$/);
  const record = join(home, '.fairlead', 'instances', 'alpha.json');
  await expect.poll(() => JSON.parse(readFileSync(record, 'utf8')).cwd).toBe('/usr');
});

test('the record of the instance is for its owner, and goes with it', () => {
  const record = JSON.parse(readFileSync(join(home, '.fairlead', 'instances', 'alpha.json'), 'utf8'));
  expect(record).toMatchObject({ id: 'alpha', pid: server.pid });
  expect(existsSync(join(home, '.fairlead', 'server.json'))).toBe(true);
});
