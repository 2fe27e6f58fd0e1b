import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Instances } from './instances.ts';
import { instanceNames } from './names.ts';
import { OwnInstance } from './own-instance.ts';

const made: string[] = [];
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});

function root(): string {
  const path = mkdtempSync(join(tmpdir(), 'fairlead-instances-'));
  made.push(path);
  return path;
}

const about = { version: '1.2.3', cwd: '/srv' };
const json = (path: string): Record<string, unknown> => JSON.parse(readFileSync(path, 'utf8'));

function start(instances: Instances, port = 1): OwnInstance {
  const own = OwnInstance.claim(instances, about);
  own.announce({ mcp_port: port, http_port: port + 1 });
  return own;
}

/** The record of a process that has ended. */
async function dead(id: string, startedAt: string): Promise<Record<string, unknown>> {
  const child = spawn('true');
  const { pid } = child;
  await once(child, 'exit');
  return { ...record(id), pid, started_at: startedAt };
}

const record = (id: string): Record<string, unknown> => ({
  id,
  pid: process.pid,
  started_at: '2026-01-01T00:00:00.000Z',
  mcp_port: 1,
  http_port: 2,
  auth_token: 'x',
  title: null,
  cwd: '/',
  version: '1',
  platform: 'linux',
});

test('names: the alphabet, then with 2 to 99, then none (R-RPC-001)', () => {
  const names = [...instanceNames()];
  expect(names.slice(0, 3)).toEqual(['alpha', 'bravo', 'charlie']);
  expect([names[25], names[26], names.at(-1)]).toEqual(['zulu', 'alpha2', 'zulu99']);
  expect(new Set(names).size).toBe(26 * 99);
});

test('the lowest free name wins, and is free again after release (R-RPC-001, R-RPC-006)', () => {
  const instances = new Instances(root());
  const [one, two] = [start(instances), start(instances)];
  expect([one.record.id, two.record.id]).toEqual(['alpha', 'bravo']);
  one[Symbol.dispose]();
  expect(start(instances).record.id).toBe('alpha');
});

test('files are private, and all three pointers carry the whole record of the active one (R-RPC-004, R-RPC-005)', () => {
  const path = root();
  const instances = new Instances(path);
  const own = start(instances, 19_876);
  for (const name of ['instances/alpha.json', 'active.json', 'server.json']) {
    expect(json(join(path, name))).toEqual({ ...own.record });
    expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
  }
  expect(readFileSync(join(path, 'auth_token'), 'utf8')).toBe(own.record.auth_token);
  expect(statSync(join(path, 'instances')).mode & 0o777).toBe(0o700);
  own.update({ title: 'build box' });
  expect(json(join(path, 'server.json'))['title']).toBe('build box');
});

test('the newest of the others becomes active when the active one ends (R-RPC-006)', async () => {
  const path = root();
  const instances = new Instances(path);
  const first = start(instances);
  const second = start(instances);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const third = start(instances);
  expect(instances.active()?.id).toBe(first.record.id);
  first[Symbol.dispose]();
  expect(json(join(path, 'active.json'))['id']).toBe(third.record.id);
  third[Symbol.dispose]();
  expect(instances.active()?.id).toBe(second.record.id);
  second[Symbol.dispose]();
  expect(existsSync(join(path, 'server.json'))).toBe(false);
});

test('dead ones are cleared away by whoever lists, unreadable files are left alone (R-RPC-003)', async () => {
  const path = root();
  mkdirSync(join(path, 'instances'));
  const file = (name: string): string => join(path, 'instances', `${name}.json`);
  writeFileSync(file('alpha'), JSON.stringify(await dead('alpha', '2026-01-01T00:00:00.000Z')));
  writeFileSync(file('bravo'), 'not json');
  writeFileSync(
    file('charlie'),
    JSON.stringify({ ...record('charlie'), pid_start: 'another process had this number' }),
  );
  writeFileSync(file('delta'), JSON.stringify(record('delta')));
  expect(new Instances(path).list().map(({ id }) => id)).toEqual(['delta']);
  expect([existsSync(file('alpha')), existsSync(file('bravo')), existsSync(file('charlie'))]).toEqual([
    false,
    true,
    false,
  ]);
});

test('an abandoned claim is taken over after ten seconds, a fresh one is not (R-RPC-002)', () => {
  const path = root();
  mkdirSync(join(path, 'instances'));
  const file = join(path, 'instances', 'alpha.json');
  writeFileSync(file, '{}');
  const instances = new Instances(path);
  expect(instances.claim()).toBe('bravo');
  const old = new Date(Date.now() - 11_000);
  utimesSync(file, old, old);
  expect(instances.claim()).toBe('alpha');
});

test('what is removed or damaged while an instance runs is written again, what cannot be read is skipped with a word', () => {
  const path = root();
  const warnings: string[] = [];
  const instances = new Instances(path, (message) => warnings.push(message));
  const own = start(instances);
  rmSync(join(path, 'instances', 'alpha.json'));
  own.repair();
  expect(json(join(path, 'instances', 'alpha.json'))).toEqual({ ...own.record });
  for (const damaged of ['{garbage', '{"id":5}', '']) {
    writeFileSync(join(path, 'server.json'), damaged);
    instances.list();
    expect(json(join(path, 'server.json'))).toEqual({ ...own.record });
  }
  expect(warnings).toEqual([]);
  mkdirSync(join(path, 'instances', 'bravo.json'));
  rmSync(join(path, 'server.json'));
  mkdirSync(join(path, 'server.json'));
  own.update({ title: 'still here' });
  expect(instances.list().map(({ id }) => id)).toEqual(['alpha']);
  expect(json(join(path, 'active.json'))['title']).toBe('still here');
  expect(start(instances).record.id).toBe('charlie');
  const named = warnings.map((warning) => /(\w+\.json) cannot be/.exec(warning)?.[1]);
  expect(new Set(named)).toEqual(new Set(['bravo.json', 'server.json']));
  expect(named).toHaveLength(2);
});

test('a record that is gone is not written over another instance that took the name', () => {
  const path = root();
  const instances = new Instances(path);
  const own = start(instances);
  const other = { ...record('alpha'), auth_token: 'other' };
  writeFileSync(join(path, 'instances', 'alpha.json'), JSON.stringify(other));
  own.repair();
  expect(json(join(path, 'instances', 'alpha.json'))).toEqual(other);
});
