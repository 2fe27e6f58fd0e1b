import { expect, test } from 'vitest';
import { z } from 'zod';
import { FairleadError } from '../../../src/contract/errors.ts';
import { defineBook, operation } from '../../../src/engine/call/operation.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { MethodTable } from '../../../src/faces/jsonrpc/methods.ts';
import { RpcServer } from '../../../src/faces/jsonrpc/server.ts';
import { deferred } from '../../../src/lib/deferred.ts';
import { RpcClient } from '../../support/rpc.ts';
import { shortest } from '../../support/shortest.ts';

const token = '5f3c2a1e-0000-4000-8000-000000000000';

/** A book with one method that answers at once and one that waits until it is told to, or its caller is gone. */
async function serve() {
  const gates = new Map<string, () => void>();
  const cancelled: string[] = [];
  const callers: string[] = [];
  const base = { title: '', summary: '', access: 'observe', render: () => '' } as const;
  const say = operation({
    ...base,
    input: z.object({ text: z.string() }),
    output: z.object({ text: z.string() }),
    async run({ input, caller }) {
      callers.push(caller.name);
      if (input.text === 'fail')
        throw new FairleadError('terminal_not_found', 'Session 7 not found', { hint: 'Look.' });
      return { text: input.text };
    },
  });
  const wait = operation({
    ...base,
    input: z.object({ name: z.string() }),
    output: z.object({ name: z.string() }),
    async run({ input, signal }) {
      const gate = deferred();
      gates.set(input.name, gate.resolve);
      signal.addEventListener('abort', () => {
        cancelled.push(input.name);
        gate.reject(signal.reason);
      });
      await gate.promise;
      return { name: input.name };
    },
  });
  const list = operation({
    ...base,
    input: z.object({}),
    output: z.object({ items: z.array(z.number()) }),
    run: async () => ({ items: [1, 2] }),
    rpcResult: ({ items }) => items,
  });
  const book = defineBook({
    name: 'b',
    summary: '',
    nouns: { b: { say, wait, list } },
    renderError: ({ message }) => message,
  });
  const methods = new MethodTable([book], async (op, raw, context) => {
    return await op.run({ ...context, input: op.input.parse(raw) } as never);
  });
  const server = await RpcServer.listen({ host: '127.0.0.1', port: 0, token, methods, clock: systemClock });
  const open = (): Promise<RpcClient> => RpcClient.connect(server.port, token);
  return { server, gates, cancelled, callers, open, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};

test('first auth.login: a wrong token may be tried again, anything else is refused (R-RPC-012)', async () => {
  await using place = await serve();
  using client = await RpcClient.connect(place.server.port);
  expect(await client.ask('b.say', { text: 'x' })).toEqual({
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32002, message: 'Not authenticated. Call auth.login first' },
  });
  expect((await client.ask('auth.login', { token: 'wrong' })).error).toEqual({
    code: -32001,
    message: 'Invalid auth token',
  });
  expect(await client.ask('auth.login', { token, client: { name: 'probe' } })).toEqual({
    jsonrpc: '2.0',
    id: 3,
    result: { status: 'ok' },
  });
  expect(await client.call('b.say', { text: 'x' })).toEqual({ text: 'x' });
  // Shows only that this token is wrong; the connection stays what it was.
  expect((await client.ask('auth.login', { token: 'wrong' })).error?.code).toBe(-32001);
  expect(await client.call('b.say', { text: 'y' })).toEqual({ text: 'y' });
  expect(place.callers).toEqual(['probe', 'probe']);
});

test('after five failures each further attempt waits a second (R-RPC-012)', async () => {
  await using place = await serve();
  using client = await RpcClient.connect(place.server.port);
  for (let count = 0; count < 5; count += 1) await client.ask('auth.login', { token: 'wrong' });
  const before = performance.now();
  expect((await client.ask('auth.login', { token })).result).toEqual({ status: 'ok' });
  expect(performance.now() - before).toBeGreaterThan(900);
});

test('bytes split anywhere, empty lines, no id, no params, parse errors and non-objects (R-RPC-010)', async () => {
  await using place = await serve();
  using client = await place.open();
  const line = Buffer.from('{"id":"ü","method":"b.say","params":{"text":"naïve"}}\n');
  for (const byte of line) client.socket.write(Buffer.from([byte]));
  expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 'ü', result: { text: 'naïve' } });
  client.send('\n\n{"method":"b.list"}\n');
  expect(await client.next()).toEqual({ jsonrpc: '2.0', id: null, result: [1, 2] });
  client.send('{"id":1,"method"\n');
  const broken = await client.next();
  expect(broken).toMatchObject({ id: null, error: { code: -32700 } });
  expect(broken.error?.message).toMatch(/^Parse error: /);
  for (const text of ['[]', '7', 'null', '"x"', '{"id":3}', '{"id":3,"method":"b.say","params":[1]}']) {
    client.send(`${text}\n`);
    expect((await client.next()).error?.code, text).toBe(-32600);
  }
  for (const id of ['true', '{}', '[1]', `${'['.repeat(200_000)}${']'.repeat(200_000)}`]) {
    client.send(`{"id":${id},"method":"b.list"}\n`);
    expect(await client.next(), id.slice(0, 9)).toMatchObject({ id: null, error: { code: -32600 } });
  }
  expect(await client.call('b.say', { text: 'still here' })).toEqual({ text: 'still here' });
});

test('an error has the documented number, the words of the book, and more in data (R-RPC-014)', async () => {
  await using place = await serve();
  using client = await place.open();
  expect((await client.ask('b.say', { text: 'fail' })).error).toEqual({
    code: -32603,
    message: 'Session 7 not found',
    data: { code: 'SESSION_NOT_FOUND', hint: 'Look.' },
  });
  expect((await client.ask('no.such')).error).toMatchObject({ code: -32603, message: 'Unknown method: no.such' });
});

test('a line over 16 MiB is refused and the connection closed (R-RPC-010)', async () => {
  await using place = await serve();
  using client = await place.open();
  client.send('x'.repeat(17 << 20));
  expect((await client.next()).error?.code).toBe(-32600);
  client.socket.end();
  await client.closed;
});

test('answers leave in the order of the requests, and another connection is not held up (R-RPC-011)', async () => {
  await using place = await serve();
  using client = await place.open();
  using other = await place.open();
  client.send(
    '{"id":1,"method":"b.wait","params":{"name":"one"}}\n{"id":1,"method":"b.say","params":{"text":"two"}}\n',
  );
  await until(() => place.gates.has('one'));
  expect(await other.call('b.say', { text: 'free' })).toEqual({ text: 'free' });
  place.gates.get('one')?.();
  expect((await client.next()).result).toEqual({ name: 'one' });
  expect((await client.next()).result).toEqual({ text: 'two' });
});

test('concurrent: true lets answers leave as they finish (R-RPC-011)', async () => {
  await using place = await serve();
  using client = await RpcClient.connect(place.server.port);
  await client.call('auth.login', { token, concurrent: true });
  client.send('{"id":1,"method":"b.wait","params":{"name":"one"}}\n');
  await until(() => place.gates.has('one'));
  client.send('{"id":2,"method":"b.say","params":{"text":"two"}}\n');
  expect((await client.next()).id).toBe(2);
  client.send('{"id":3,"method":"b.say","params":{"text":"three"}}\n');
  expect((await client.next()).id).toBe(3);
  place.gates.get('one')?.();
  expect((await client.next()).id).toBe(1);
});

test('a closed socket ends the waiting within 100 ms (R-RPC-015)', async () => {
  await using place = await serve();
  for (const leave of [(client: RpcClient) => client.socket.destroy(), (client: RpcClient) => client.socket.end()]) {
    const ended = async (): Promise<number> => {
      const client = await place.open();
      place.gates.clear();
      place.cancelled.length = 0;
      client.send('{"id":1,"method":"b.wait","params":{"name":"w"}}\n');
      await until(() => place.gates.has('w'));
      const before = performance.now();
      leave(client);
      await until(() => place.cancelled.length > 0);
      return performance.now() - before;
    };
    expect(await shortest(100, ended)).toBeLessThan(100);
  }
});

test('a client that sends its requests, closes its side and then reads gets every answer', async () => {
  await using place = await serve();
  using client = await RpcClient.connect(place.server.port);
  client.socket.end(
    `{"id":1,"method":"auth.login","params":{"token":"${token}"}}\n{"id":2,"method":"b.say","params":{"text":"x"}}\n`,
  );
  expect((await client.next()).result).toEqual({ status: 'ok' });
  expect((await client.next()).result).toEqual({ text: 'x' });
  await client.closed;
});

test('a flood of pipelined requests is answered whole and in order', async () => {
  await using place = await serve();
  using client = await place.open();
  const count = 5000;
  for (let id = 0; id < count; id += 1) client.send(`{"id":${id},"method":"b.say","params":{"text":"${id}"}}\n`);
  for (let id = 0; id < count; id += 1) expect((await client.next()).id).toBe(id);
});

test('the second server takes the next port (R-RPC-007)', async () => {
  await using first = await serve();
  const options = { host: '127.0.0.1', token, methods: new MethodTable([], async () => ({})), clock: systemClock };
  await using second = await RpcServer.listen({ ...options, port: first.server.port });
  expect(second.port).not.toBe(first.server.port);
  expect(second.port).toBeGreaterThan(0);
});
