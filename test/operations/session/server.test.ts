import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FairleadError } from '../../../src/contract/errors.ts';
import { RunningInstance, runningInstance, type Vitals } from '../../../src/engine/instances/running.ts';
import { missingDriver } from '../../../src/transports/local/index.ts';
import { cpuTimer } from '../../support/clocks/cpu-timer.ts';
import { RpcPlace, withPlace } from '../../support/rpc-place.ts';

let place: RpcPlace;
withPlace((opened) => (place = opened));

const call = (method: string, params?: unknown) => place.client.call(method, params);

test('server.info, server.health and system.info', async () => {
  expect(await call('server.info')).toEqual({
    name: 'Fairlead MCP Server',
    version: '9.9.9',
    engine: 'Fairlead',
    protocol: 'json-rpc-2.0',
  });
  expect(await call('server.health')).toMatchObject({
    status: 'ok',
    mcp: { bind: '127.0.0.1', port: place.server.port, auth: true },
    mux: { available: true },
  });
  expect(await call('system.info')).toMatchObject({ platform: 'linux', hostname: hostname(), sessions_max: 200 });
  expect((await place.client.ask('system.launch_admin', {})).error?.message).toBe(
    'Administrator launch is only supported on Windows',
  );
});

test('instance.list has no tokens, instance.info has; a title is mirrored at once (R-RPC-005, R-RPC-009)', async () => {
  const { instances } = await call('instance.list');
  expect(instances).toMatchObject([{ id: 'alpha', pid: process.pid, mcp_port: place.server.port }]);
  expect(JSON.stringify(instances)).not.toContain(place.own.record.auth_token);
  expect(await call('instance.info')).toMatchObject({ id: 'alpha', auth_token: place.own.record.auth_token });
  expect(await call('instance.set_title', { title: 'box' })).toEqual({ ok: true, title: 'box' });
  expect(JSON.parse(readFileSync(join(place.home, '.fairlead', 'server.json'), 'utf8')).title).toBe('box');
  expect(await call('instance.set_title', {})).toEqual({ ok: true, title: null });
  expect(await call('instance.focus')).toMatchObject({ ok: true, delivered: 0, note: expect.any(String) });
});

test('instance.focus counts those who show it, and knows the session (R-RPC-125)', async () => {
  const [one, two] = [await place.create(), await place.create()];
  using _viewer = place.engine.events.on((event) => {
    if (event.kind === 'focus' && (event.session ?? one) === one) event.heard();
  });
  expect(await call('instance.focus')).toEqual({ ok: true, delivered: 1 });
  expect(await call('instance.focus', { session_id: String(one) })).toEqual({ ok: true, delivered: 1 });
  expect(await call('instance.focus', { session_id: two })).toEqual({
    ok: true,
    delivered: 0,
    note: `No one is attached to session ${two}. Attach with: fairlead attach ${two}`,
  });
  expect((await place.client.ask('instance.focus', { session_id: 999 })).error?.message).toBe('Session 999 not found');
});

test('a loop that was held up is remembered for a while (R-RPC-132)', async () => {
  await using other = await RpcPlace.open();
  const { own, peers } = other.engine.service(runningInstance);
  const { vitals } = new RunningInstance(own, peers);
  const holdUp = (): void => {
    for (const until = performance.now() + 700; performance.now() < until; );
  };
  const late = (): number => {
    holdUp();
    return vitals.lateMs();
  };
  await expect.poll(late, { timeout: 20_000 }).toBeGreaterThan(500);
  expect(vitals.lateMs()).toBeGreaterThan(500);
});

test('selftest.run is ok, really tries things, and leaves nothing behind (R-RPC-130)', async () => {
  const id = await place.create();
  const before = (await call('session.list')).sessions.length;
  const { ok, checks } = await call('selftest.run', { session_id: String(id) });
  expect(checks.filter((check: { ok: boolean }) => !check.ok)).toEqual([]);
  expect(ok).toBe(true);
  expect(checks.map(({ name }: { name: string }) => name)).toEqual([
    'mux.available',
    'server.health',
    'policy.check',
    'system.launch_admin',
    'proxy.status',
    'exec.run_wait',
    'capture.window',
    'server.capabilities',
    'redaction',
    'recording.roundtrip',
    'session.status',
    'screen.text',
    'screen.detect_errors',
    'session.recording_status',
  ]);
  expect(checks.find(({ name }: { name: string }) => name === 'exec.run_wait').detail.exit_code).toBe(3);
  const captured = checks.find(({ name }: { name: string }) => name === 'capture.window').detail;
  expect(captured).toMatchObject({ width: expect.any(Number) as number, sha256: expect.any(String) as string });
  expect(existsSync(captured.path)).toBe(false);
  expect((await call('session.list')).sessions).toHaveLength(before);
});

test('selftest.run leaves no recording behind where every session is recorded (R-RPC-130)', async () => {
  const settings = place.engine.logs?.settings;
  const ids = async (): Promise<string[]> =>
    (await call('session.recording_list')).map(({ recording_id }: { recording_id: string }) => recording_id);
  const before = await ids();
  settings?.update((now) => ({ ...now, recording: { enabled: true } }));
  try {
    const { checks } = await call('selftest.run');
    const recorded = checks.find(({ name }: { name: string }) => name === 'recording.roundtrip');
    expect(recorded).toMatchObject({ ok: true });
    expect(existsSync(recorded.detail.md_path)).toBe(false);
    expect(await ids()).toEqual(before);
  } finally {
    settings?.update((now) => ({ ...now, recording: { enabled: false } }));
  }
});

test('1,000 connections that stall, send garbage or vanish: another client is served, nothing leaks', async () => {
  const before = place.server.connections;
  const id = await place.create();
  const wait = `{"id":1,"method":"orchestrate.wait","params":{"id":${id},"pattern":"never","timeout_ms":60000}}\n`;
  const crowd = await Promise.all(Array.from({ length: 1000 }, () => place.another()));
  expect(place.server.connections).toBe(before + 1000);
  crowd.forEach((client, index) => {
    if (index % 3 === 0) client.send('{"id":1,"method":"session.li');
    else if (index % 3 === 1) client.send('\u0000\u0001garbage\n'.repeat(20));
    else {
      client.send(wait);
      client.socket.destroy();
    }
  });
  const [waited, worked]: [number[], number[]] = [[], []];
  for (let round = 0; round < 500; round += 1) {
    const [started, spent] = [performance.now(), cpuTimer()];
    await call('session.list');
    waited.push(performance.now() - started);
    worked.push(spent());
  }
  for (const client of crowd) client[Symbol.dispose]();
  await expect.poll(() => place.server.connections).toBe(before);
  // What this process does between a question and its answer. Other programs make single answers late, not most of them.
  expect(percentile(worked, 0.99)).toBeLessThan(50);
  expect(percentile(waited, 0.5)).toBeLessThan(50);
});

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

test('server.health is degraded when the machine fails it, and says why (R-RPC-132)', async () => {
  const broken: readonly (readonly [Partial<Vitals>, string, boolean])[] = [
    [{ lateMs: () => 501 }, 'the server was 501 ms late', true],
    [{ isWritable: () => false }, 'cannot be written to', true],
    [{ freeBytes: () => 199 * 1024 * 1024 }, 'less than 200 MB are free', true],
    [{ noTerminals: () => missingDriver(() => Promise.reject(noDriver)) }, 'No pseudo-terminal driver loads', false],
  ];
  for (const [vitals, reason, available] of broken) {
    await using ill = await RpcPlace.open(undefined, {}, { lateMs: () => 0, ...vitals });
    const { status, reasons, mux } = await ill.client.call('server.health');
    expect({ status, mux }, reason).toMatchObject({ status: 'degraded', mux: { available } });
    expect(reasons).toEqual([expect.stringContaining(reason)]);
  }
  expect(await missingDriver()).toBeUndefined();
});

const noDriver = new FairleadError('unsupported', 'No pseudo-terminal driver loads on linux x64.');
