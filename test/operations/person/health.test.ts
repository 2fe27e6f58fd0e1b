import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call } from '../../../src/engine/call/call.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { check } from '../../../src/operations/person/health.ts';
import { runsTrue } from '../../../src/transports/local/index.ts';
import { limit } from '../../support/engine.ts';
import { RpcPlace } from '../../support/rpc-place.ts';

const healthOf = (place: RpcPlace) => call(check, {}, { engine: place.engine, caller: localPerson, signal: limit() });
const row = async (place: RpcPlace, id: string) => (await healthOf(place)).checks.find((one) => one.id === id);

test('R-HUB-131: a row for each check of its own, with why; a token file that others can read is critical', async () => {
  await using place = await RpcPlace.open(undefined, {}, { runsTrue });
  const root = join(place.home, '.fairlead');
  const found = await healthOf(place);
  expect(found.checks.map(({ id }) => id)).toEqual([
    'state-files',
    'pty',
    'shells',
    'ports',
    'instances',
    'settings',
    'audit',
    'disk',
    'recordings',
    'queues',
    'versions',
  ]);
  for (const one of found.checks) expect(one.why.length, one.id).toBeGreaterThan(10);
  expect(found.checks.filter(({ severity, fix }) => severity !== 'ok' && severity !== 'info' && !fix)).toEqual([]);
  expect(found.checks.find(({ id }) => id === 'pty')).toMatchObject({ severity: 'ok' });
  expect(found.checks.find(({ id }) => id === 'state-files')).toMatchObject({ severity: 'ok' });
  const token = join(root, 'auth_token');
  writeFileSync(token, 'x', { mode: 0o600 });
  chmodSync(token, 0o644);
  const open = await healthOf(place);
  expect(open.worst).toBe('crit');
  expect(open.checks[0]).toMatchObject({ severity: 'crit', fix: `chmod -R go= ${root}` });
  expect(open.checks[0]?.summary).toContain(`${token} has mode 644`);
  expect(check.exitCode?.(open)).toBe(2);
  expect(check.render(open)).toMatch(/✗ State and token files: .*mode 644.*\n {2}Why: .*\n {2}Fix: chmod/);
  chmodSync(token, 0o600);
  expect((await row(place, 'state-files'))?.severity).toBe('ok');
});

test('R-HUB-131: a driver that cannot run `true`, stale instance files, broken settings and a busy server are told of', async () => {
  let late = 0;
  await using place = await RpcPlace.open(
    undefined,
    {},
    { runsTrue: (signal) => runsTrue(signal, ['false']), lateMs: () => late },
  );
  expect(await row(place, 'pty')).toMatchObject({
    severity: 'crit',
    summary: expect.stringContaining('`false`') as string,
  });
  const root = join(place.home, '.fairlead');
  mkdirSync(join(root, 'instances'), { recursive: true });
  const stale = join(root, 'instances', 'zulu.json');
  writeFileSync(stale, 'not json', { mode: 0o600 });
  expect(await row(place, 'instances')).toMatchObject({ severity: 'warn', fix: `rm ${stale}` });
  rmSync(stale);
  expect((await row(place, 'instances'))?.severity).toBe('ok');
  writeFileSync(join(root, 'theme.json'), '{', { mode: 0o600 });
  await expect.poll(async () => (await row(place, 'settings'))?.severity).toBe('warn');
  late = 900;
  expect(await row(place, 'queues')).toMatchObject({
    severity: 'warn',
    summary: expect.stringContaining('900 ms') as string,
  });
});

test('R-HUB-132: a check that hangs is one row; the others answer; input that is none is refused', async () => {
  await using place = await RpcPlace.open(undefined, {}, { runsTrue: () => new Promise(() => {}) });
  const found = await healthOf(place);
  expect(found.checks.find(({ id }) => id === 'pty')).toMatchObject({
    severity: 'warn',
    summary: expect.stringContaining('5 s') as string,
  });
  expect(found.checks).toHaveLength(11);
  await expect(
    call(check, { deep: true }, { engine: place.engine, caller: localPerson, signal: limit() }),
  ).rejects.toThrow(/deep/);
});
