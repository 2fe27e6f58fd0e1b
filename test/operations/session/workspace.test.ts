import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Transport } from '../../../src/engine/terminal/transport.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { localTransport } from '../../../src/transports/local/transport.ts';
import { RpcPlace } from '../../support/rpc-place.ts';

const file = (place: RpcPlace, name: string): string => join(place.home, '.fairlead', 'workspaces', `${name}.json`);

test('save, list, restore: the sessions are there again, each in its directory (R-RPC-110…112)', async () => {
  await using place = await RpcPlace.open();
  const call = (method: string, params?: unknown) => place.client.call(method, params);
  const [a, b] = ['a', 'b/c'].map((name) => join(realpathSync(place.home), name)) as [string, string];
  mkdirSync(a);
  mkdirSync(b, { recursive: true });
  const first = await place.create({ cwd: a, cols: 90, rows: 33, name: 'one' });
  const second = await place.create({ cwd: b });
  expect(await call('workspace.save', { name: 'work' })).toEqual({ saved: true, name: 'work', sessions: 2 });
  expect(statSync(file(place, 'work')).mode & 0o777).toBe(0o600);
  expect((await call('workspace.list')).workspaces).toMatchObject([{ name: 'work', session_count: 2 }]);
  for (const id of [first, second]) await call('session.destroy', { id });
  rmSync(b, { recursive: true });
  const dry = await call('workspace.restore', { name: 'work', dry_run: true });
  expect(dry).toMatchObject({ restored: false, planned: 2, created: [], dry_run: true });
  expect((dry as { plan: unknown[] }).plan).toHaveLength(2);
  const restored = await call('workspace.restore', { name: 'work' });
  expect(restored).toMatchObject({ restored: true, name: 'work', planned: 2, failed: [], dry_run: false });
  expect(restored.workspace.sessions).toMatchObject([
    { id: first, cwd: a },
    { id: second, cwd: b },
  ]);
  const [one, two] = restored.created;
  expect(one).toEqual({ saved_id: first, id: one.id });
  // The directory is gone: the nearest one above it, and it is said.
  expect(two).toEqual({ saved_id: second, id: two.id, cwd: join(realpathSync(place.home), 'b') });
  expect(await call('session.get', { id: one.id })).toMatchObject({ cols: 90, rows: 33, name: 'one' });
  expect((await call('exec.run_wait', { id: one.id, command: 'pwd' })).output).toBe(a);
});

test('while the originals live, restored sessions get names of their own, and it is said', async () => {
  await using place = await RpcPlace.open();
  const call = (method: string, params?: unknown) => place.client.call(method, params);
  const original = await place.create({ name: 'build' });
  await place.create({ name: 'test' });
  await call('workspace.save', { name: 'w' });
  await call('session.destroy', { id: original + 1 });
  const { created, message } = await call('workspace.restore', { name: 'w' });
  expect(created).toEqual([
    { saved_id: original, id: created[0].id, name: 'build-2' },
    { saved_id: original + 1, id: created[1].id },
  ]);
  expect(message).toBe(`2 of 2 sessions were created. Names that were taken: ${created[0].id} is called build-2.`);
  await call('workspace.restore', { name: 'w' });
  const names = (await call('session.list')).sessions.map(({ name }: { name?: string }) => name);
  expect(names).toEqual(['build', 'build-2', 'test', 'build-3', 'test-2']);
});

test('names are names, not paths; the version before is kept; a damaged file is told (R-RPC-110)', async () => {
  await using place = await RpcPlace.open();
  for (const name of ['../x', '.hidden', 'a/b', 'x'.repeat(65)]) {
    const { error } = await place.client.ask('workspace.save', { name });
    expect(error?.message, name).toMatch(/^Invalid workspace name: /);
  }
  await place.client.call('workspace.save', { name: 'w' });
  await place.create();
  await place.client.call('workspace.save', { name: 'w' });
  expect(JSON.parse(readFileSync(`${file(place, 'w')}.bak`, 'utf8')).sessions).toEqual([]);
  writeFileSync(file(place, 'broken'), '{');
  const { workspaces } = await place.client.call('workspace.list');
  expect(workspaces).toMatchObject([
    { name: 'broken', error: expect.stringContaining('its file is damaged, line 1: ') },
    { name: 'w' },
  ]);
  expect((await place.client.ask('workspace.restore', { name: 'none' })).error?.message).toBe(
    "Workspace 'none' not found",
  );
  expect(await place.client.call('workspace.delete', { name: 'w' })).toEqual({ deleted: true, name: 'w' });
  expect(existsSync(`${file(place, 'w')}.bak`)).toBe(false);
});

test('how sessions were started is kept, and done again only when asked for (R-RPC-110, R-RPC-111)', async () => {
  await using place = await RpcPlace.open();
  const call = (method: string, params?: unknown) => place.client.call(method, params);
  const sleeper = await place.create({ command: 'echo "two  words"; sleep 600', env: { SECRET_OF_MINE: 'hidden' } });
  const program = await place.create({ argv: ['sh', '-c', `echo "it's $1"; exec sleep 600`, 'sh', 'a b'] });
  const shell = await place.create();
  await call('workspace.save', { name: 'w' });
  const text = readFileSync(file(place, 'w'), 'utf8');
  const { sessions } = JSON.parse(text) as { sessions: Record<string, unknown>[] };
  expect(sessions).toMatchObject([
    { id: sleeper, command: 'echo "two  words"; sleep 600', env: ['SECRET_OF_MINE'] },
    { id: program, command: `sh -c 'echo "it'\\''s $1"; exec sleep 600' sh 'a b'` },
    { id: shell, shell: '/bin/bash' },
  ]);
  expect(sessions[2]).not.toHaveProperty('command');
  expect(text).not.toContain('hidden');

  const quiet = await call('workspace.restore', { name: 'w' });
  expect((await call('session.list')).sessions).toHaveLength(6);
  expect((await call('exec.status', { id: quiet.created[0].id })).status).toBe('idle');

  const { created, failed } = await call('workspace.restore', { name: 'w', replace: true, run_commands: true });
  expect(failed).toEqual([]);
  const ids = (await call('session.list')).sessions.map(({ id }: { id: number }) => id);
  expect(ids).toEqual(created.map(({ id }: { id: number }) => id));
  const shows = (at: number, pattern: string) => call('orchestrate.wait', { id: ids[at], pattern, regex: true });
  expect(await shows(0, '^two  words$')).toMatchObject({ matched: true });
  expect(await shows(1, "^it's a b$")).toMatchObject({ matched: true });
  expect((await call('exec.status', { id: ids[2] })).status).toBe('idle');
});

test('a shell is kept by name also where it marks nothing (R-RPC-110)', async () => {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-plain-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const local = localTransport({
    root: join(home, '.fairlead'),
    shell: '/bin/bash',
    cwd: home,
    env,
    extraEnv: {},
    integration: false,
    variables: async () => ({}),
  });
  await using place = await RpcPlace.open(undefined, { transports: [local] });
  await place.create({ shell: '/bin/dash' });
  await place.client.call('workspace.save', { name: 'w' });
  const { created } = await place.client.call('workspace.restore', { name: 'w' });
  expect((await place.client.call('exec.status', { id: created[0].id })).foreground_process).toBe('dash');
});

test('what is far away is opened in its own directory, not in one of this machine (R-RPC-111)', async () => {
  const asked: (string | undefined)[] = [];
  const open: Transport['open'] = async ({ cwd, size }) => {
    asked.push(cwd);
    return { channel: new EchoChannel(size), program: 'bash' };
  };
  await using place = await RpcPlace.open(undefined, { transports: [{ scheme: 'far', open }] });
  const session = { id: 4, title: 'x', cwd: '/not/on this/machine', cwd_is_remote: true, target: 'far:box' };
  mkdirSync(dirname(file(place, 'w')), { recursive: true });
  writeFileSync(file(place, 'w'), JSON.stringify({ name: 'w', sessions: [session], saved_at: 'today' }));
  const { created, failed } = await place.client.call('workspace.restore', { name: 'w' });
  expect({ created, failed }).toEqual({ created: [{ saved_id: 4, id: created[0].id }], failed: [] });
  expect(asked).toEqual(['/not/on this/machine']);
});

test('a damaged file is not saved over: the version before it stays the good one (R-RPC-017)', async () => {
  await using other = await RpcPlace.open();
  await other.client.call('workspace.save', { name: 'w' });
  await other.client.call('workspace.save', { name: 'w' });
  const path = file(other, 'w');
  writeFileSync(path, '{\n"name": }');
  const { error } = await other.client.ask('workspace.save', { name: 'w' });
  expect(error?.message).toMatch(/w\.json cannot be understood \(line 2: .+\), so it is left as it is/);
  expect(readFileSync(path, 'utf8')).toBe('{\n"name": }');
  expect(JSON.parse(readFileSync(`${path}.bak`, 'utf8'))).toMatchObject({ name: 'w' });
});
