import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { attachMethods } from '../../src/engine/attach/methods.ts';
import { verifyTrail } from '../../src/engine/audit-verify.ts';
import { RpcPlace } from './place.ts';

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

test('what an attached person types is one entry a second, by length only; a resize is one (R-RPC-035)', async () => {
  await using place = await RpcPlace.open();
  const session = await place.create();
  const methods = attachMethods(place.engine);
  const [here, there] = [new AbortController(), new AbortController()];
  const type = async (text: string, { signal }: AbortController) =>
    await methods['attach.write']?.({ session, bytes: Buffer.from(text).toString('base64') }, signal);
  await Promise.all([...'echo hi'].map((key) => type(key, here)));
  await type('\r', here);
  await type('é', there);
  await place.client.call('orchestrate.wait', { id: session, pattern: '^hi$', regex: true });
  await methods['attach.resize']?.({ session, cols: 90, rows: 20 }, here.signal);
  // Whoever leaves has typed what was typed: the entry does not wait for the second to be over.
  here.abort();
  there.abort();
  const typed = () => place.engine.audit.entries().filter(({ operation }) => operation.startsWith('attach.'));
  await expect.poll(typed).toHaveLength(3);
  expect(typed()).toMatchObject([
    { operation: 'attach.resize', terminal: String(session), detail: '90x20', caller: 'person', peer: 'socket' },
    { operation: 'attach.write', terminal: String(session), characters: 8, allowed: true },
    { operation: 'attach.write', terminal: String(session), characters: 1 },
  ]);
  expect(verifyTrail(join(place.home, '.fairlead')).faults).toEqual([]);
});

test('a key that did not get there is refused to the person and written down as such', async () => {
  await using place = await RpcPlace.open();
  const session = await place.create();
  const methods = attachMethods(place.engine);
  await place.client.call('session.input', { id: session, input: 'exit\r' });
  await place.client.call('orchestrate.wait', { id: session, exit: true });
  const write = methods['attach.write']?.({ session, bytes: 'eA==' }, new AbortController().signal);
  await expect(write).rejects.toMatchObject({ code: 'terminal_exited' });
  expect(place.engine.audit.entries().at(-1)).toMatchObject({ operation: 'attach.write', error: 'terminal_exited' });
});
