import { rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call } from '../../../src/engine/call/call.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { resize, type as typeKeys } from '../../../src/operations/person/index.ts';
import { verifyTrail } from '../../../src/engine/call/audit/verify.ts';
import { patientClock } from '../../support/clocks/patient.ts';
import { RpcClient } from '../../support/rpc.ts';
import { RpcPlace } from '../../support/rpc-place.ts';

const open = { enabled: false, blocked_patterns: [], allowed_patterns: [] };

test('entries say where the client called from (R-RPC-036)', async () => {
  await using place = await RpcPlace.open();
  await place.create();
  const { port } = place.client.socket.address() as AddressInfo;
  const [entry] = await place.client.call('session.audit_log', { limit: 1 });
  expect(entry).toMatchObject({ method: 'session.create', peer: `127.0.0.1:${port}` });
});

test('a broadcast leaves an entry for every session, with how it went there (R-RPC-054)', async () => {
  await using place = await RpcPlace.open();
  const [one, two] = [await place.create(), await place.create()];
  await place.client.call('orchestrate.broadcast', { command: 'echo all', sessions: [one, two, 77, 'x'] });
  const entries = await place.client.call('session.audit_log', { method: 'orchestrate.broadcast' });
  const told = entries.map(({ session_id, error, detail }: Record<string, unknown>) => ({ session_id, error, detail }));
  expect(told).toHaveLength(5);
  expect(told).toEqual(
    expect.arrayContaining([
      { session_id: String(one), detail: 'echo all' },
      { session_id: String(two), detail: 'echo all' },
      { session_id: '77', detail: 'echo all', error: 'terminal_not_found' },
      { session_id: 'x', detail: 'echo all', error: 'invalid_input' },
      { session_id: null, detail: 'echo all' },
    ]),
  );
});

test('a changed scope is part of what the trail says of a policy (R-RPC-102)', async () => {
  await using place = await RpcPlace.open();
  await place.client.call('policy.set', { ...open, scope: ['exec', 'input'] });
  const [entry] = await place.client.call('session.audit_log', { method: 'policy.set' });
  expect(entry.detail).toBe('scope exec+input');
  expect((await place.client.call('policy.set', { ...open, scope: ['input', 'exec'] })).changed).toEqual([]);
});

test('the trail holds all that changed in a policy, without its secrets (R-RPC-102)', async () => {
  await using place = await RpcPlace.open();
  const patterns = Array.from({ length: 40 }, (_, at) => `cmd:program-number-${at}`);
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  await place.client.call('policy.set', { ...open, blocked_patterns: [...patterns, secret] });
  const [{ detail }] = await place.client.call('session.audit_log', { method: 'policy.set' });
  expect(detail).toContain(patterns.map((one) => `+ blocked ${one}`).join(', '));
  expect(detail).not.toContain(secret);
  const many = Array.from({ length: 900 }, (_, at) => `cmd:other-${at}`);
  await place.client.call('policy.set', { ...open, blocked_patterns: many });
  const [longest] = await place.client.call('session.audit_log', { method: 'policy.set' });
  expect(longest.detail).toHaveLength(4096);
});

test('with nothing to read on disk the log is what this server remembers (R-RPC-036)', async () => {
  await using place = await RpcPlace.open();
  const folder = join(place.home, '.fairlead', 'audit');
  await place.client.call('policy.set', open);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'in the way');
  await place.client.call('policy.set', { ...open, enabled: true });
  const entries = await place.client.call('session.audit_log');
  expect(entries).toMatchObject([{ detail: 'enabled true' }, { method: 'policy.set', detail: '' }]);
});

test('our own command line is told apart from other clients by its origin (R-RPC-036)', async () => {
  await using place = await RpcPlace.open();
  await place.client.call('policy.set', open);
  using cli = await RpcClient.connect(place.server.port);
  await cli.call('auth.login', { token: place.own.record.auth_token, client: { name: 'fairlead-cli' } });
  await cli.call('policy.set', open);
  const entries = await place.client.call('session.audit_log');
  expect(entries).toMatchObject([{ client: 'fairlead-cli', origin: 'cli' }, { origin: 'rpc' }]);
});

test('what an attached person types is one entry a second, by length only; a resize is one (R-RPC-035)', async () => {
  // The second does not pass: what is typed within it is typed however slowly.
  await using place = await RpcPlace.open(undefined, { clock: patientClock(1000) });
  const session = await place.create();
  const { engine } = place;
  const [here, there] = [new AbortController(), new AbortController()];
  const type = async (text: string, { signal }: AbortController) =>
    await call(typeKeys, { session }, { engine, caller: localPerson, signal, body: Buffer.from(text) });
  await Promise.all([...'echo hi'].map((key) => type(key, here)));
  await type('\r', here);
  await type('é', there);
  await place.client.call('orchestrate.wait', { id: session, pattern: '^hi$', regex: true });
  const { signal } = here;
  await call(resize, { session, cols: 90, rows: 20 }, { engine, caller: localPerson, signal });
  // Whoever leaves has typed what was typed: the entry does not wait for the second to be over.
  here.abort();
  there.abort();
  const typed = () => place.engine.audit.entries().filter(({ operation }) => operation.startsWith('person.'));
  await expect.poll(typed).toHaveLength(3);
  expect(typed()).toMatchObject([
    { operation: 'person.resize', terminal: String(session), detail: '90x20', caller: 'person', peer: 'socket' },
    { operation: 'person.type', terminal: String(session), characters: 8, allowed: true },
    { operation: 'person.type', terminal: String(session), characters: 1 },
  ]);
  expect(verifyTrail(join(place.home, '.fairlead')).faults).toEqual([]);
});

test('a key that did not get there is refused to the person and written down as such', async () => {
  await using place = await RpcPlace.open();
  const session = await place.create();
  await place.client.call('session.input', { id: session, input: 'exit\r' });
  await place.client.call('orchestrate.wait', { id: session, exit: true });
  const { signal } = new AbortController();
  const write = call(typeKeys, { session, text: 'x' }, { engine: place.engine, caller: localPerson, signal });
  await expect(write).rejects.toMatchObject({ code: 'terminal_exited' });
  expect(place.engine.audit.entries().at(-1)).toMatchObject({ operation: 'person.type', error: 'terminal_exited' });
});

test('entries say what was asked for, of variables only the names (R-RPC-035, R-RPC-036)', async () => {
  await using place = await RpcPlace.open();
  const { client } = place;
  const id = await place.create({ env: { LD_PRELOAD: '/secret.so', A: '1' } });
  await client.call('session.create', { argv: ['sleep', '9'] });
  await client.call('session.set_env', { id, name: 'LD_PRELOAD', value: '/evil.so' });
  await client.call('session.set_env', { id, name: 'PROMPT_COMMAND', value: 'evil' });
  await client.call('session.set_env', { id, name: 'A', value: null });
  await client.call('session.resize', { id, cols: 99, rows: 20 });
  await client.call('signal.send', { id, signal: 'INT' });
  await client.call('signal.send', { id, signal: 'CONT', mode: 'process' });
  await client.call('workspace.save', { name: 'ws' });
  await client.call('workspace.restore', { name: 'ws', dry_run: true });
  await client.call('workspace.delete', { name: 'ws' });
  await client.call('instance.set_title', { title: 'Build' });
  await client.call('proxy.configure', {
    http_proxy: 'http://u:hidden@h:1',
    nodes: [{ name: 'n', url: 'http://h:1' }],
  });
  const entries: Record<string, unknown>[] = (await client.call('session.audit_log', { limit: 100 })).reverse();
  expect(entries.map(({ method, detail }) => `${String(method)} ${String(detail).replace(/<.*>/, '***')}`)).toEqual([
    'session.create env LD_PRELOAD, A: /bin/bash',
    'session.create sleep 9',
    'session.set_env env LD_PRELOAD: set',
    'session.set_env env PROMPT_COMMAND: set',
    'session.set_env env A: unset',
    'session.resize 99x20',
    'signal.send INT',
    'signal.send CONT to the process',
    'workspace.save ws',
    'workspace.restore ws, dry_run',
    'workspace.delete ws',
    'instance.set_title Build',
    'proxy.configure manual, http://u:***@h:1, 1 nodes',
  ]);
});

test('a long command does not hide which variables come with it, nor does a refusal', async () => {
  await using place = await RpcPlace.open();
  await place.client.call('policy.set', { enabled: true, blocked_patterns: ['cmd:rm'], allowed_patterns: [] });
  const command = `rm ${'x'.repeat(200)}`;
  await expect(place.client.call('session.create', { command, env: { LD_PRELOAD: '/x' } })).rejects.toThrow(
    'blocked by policy',
  );
  await expect(
    place.client.call('session.set_env', { id: await place.create(), name: 'PROMPT_COMMAND', value: 'rm x' }),
  ).rejects.toThrow('blocked by policy');
  const [refused, , created] = await place.client.call('session.audit_log', {});
  expect(created).toMatchObject({ allowed: false, detail: expect.stringMatching(/^env LD_PRELOAD: rm x+…$/) });
  expect(refused).toMatchObject({ allowed: false, detail: 'env PROMPT_COMMAND: set' });
});

test('asking for one session tells who opened it and what was launched in it (R-RPC-054)', async () => {
  await using place = await RpcPlace.open();
  const { client } = place;
  const created = await place.create({ shell: '/bin/sh' });
  const launched = (await client.call('orchestrate.launch', { command: 'echo l', env: { A: '1' } })).id;
  await client.call('workspace.save', { name: 'ws' });
  const restored: { id: number }[] = (await client.call('workspace.restore', { name: 'ws' })).created;
  expect(restored).toHaveLength(2);
  const opened = async (session_id: number) => {
    const entries: Record<string, unknown>[] = await client.call('session.audit_log', { session_id });
    return entries.map(({ method, detail }) => [method, detail]);
  };
  expect(await opened(created)).toEqual([['session.create', '/bin/sh']]);
  expect(await opened(launched)).toEqual([['orchestrate.launch', 'env A: echo l']]);
  for (const { id } of restored) expect(await opened(id)).toEqual([['workspace.restore', 'ws']]);
});
