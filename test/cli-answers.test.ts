import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, Served } from './support/served.ts';

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
  expect(shown[5]?.stderr).toContain(`${id} (a\ufffd[31mRED`);
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
