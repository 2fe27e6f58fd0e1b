import { connect, type Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { FairleadError } from '../../../src/contract/errors.ts';
import { deferred } from '../../../src/lib/deferred.ts';
import { onAbort } from '../../../src/system/on-abort.ts';
import { type FakeResources, fakeResources } from '../../support/mcp/fake-resources.ts';
import { callWithoutTerminals } from '../../support/mcp/engine.ts';
import { serveMcpHttp } from '../../support/mcp/http.ts';
import { ResourcePlace } from '../../support/mcp/resource-place.ts';
import { envelope, initialize, initialized, toolCall, type Wire, wire } from '../../support/mcp/wire.ts';
import { workshop } from '../../support/mcp/workshop.ts';

// What the face itself does with resources (docs/requirements/remote.md 3.4), on operations that only note who called.

const known = (uri: string): boolean => uri.startsWith('test://');
const fake = (): FakeResources =>
  fakeResources({
    list: (cursor) => ({
      resources: [],
      ...(cursor === undefined && { next_cursor: '1000' }),
      warnings: [{ code: 'SUB_LEAK_RISK' }],
    }),
    templates: { templates: [] },
    read: (uri) => (known(uri) ? { uri, mime_type: 'text/plain', text: '', meta: {} } : undefined),
  });

const listen = (id: number, uris: readonly string[], more: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'subscriptions/listen',
  params: { _meta: envelope, notifications: { resourceSubscriptions: uris, ...more } },
});
const cancel = (requestId: number): object => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});
const acknowledged = async (line: Wire, id: number): Promise<unknown> => {
  const isIt = (meta: unknown): boolean =>
    (meta as Record<string, unknown> | undefined)?.['io.modelcontextprotocol/subscriptionId'] === id;
  const { params } = await line.find(
    ({ method, params: told }) => method === 'notifications/subscriptions/acknowledged' && isIt(told?.['_meta']),
  );
  const filter = params?.['notifications'] as { resourceSubscriptions?: unknown } | undefined;
  return filter?.resourceSubscriptions;
};
const updates = (line: Wire): readonly [unknown, unknown][] =>
  line.lines
    .map((text) => JSON.parse(text) as { method?: string; params?: Record<string, Record<string, unknown>> })
    .filter(({ method }) => method === 'notifications/resources/updated')
    .map(({ params }) => [params?.['_meta']?.['io.modelcontextprotocol/subscriptionId'], params?.['uri']]);
const pong = async (line: Wire, id: number): Promise<void> => {
  line.send({ jsonrpc: '2.0', id, method: 'resources/templates/list', params: { _meta: envelope } });
  await line.answer(id);
};
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

describe('on one connection of 2026', () => {
  test('two requests hold one subscription: it ends with the second, and each is told by its own name', async () => {
    const made = fake();
    await using line = wire(workshop({ resources: made.resources }).surface);
    line.send(listen(1, ['test://a', 'test://b']));
    line.send(listen(2, ['test://b', 'nowhere://x']));
    expect(await acknowledged(line, 1)).toEqual(['test://a', 'test://b']);
    expect(await acknowledged(line, 2)).toEqual(['test://b']);
    const [client] = made.clients;
    made.changed('test://b');
    await until(() => updates(line).length === 2);
    expect(updates(line)).toEqual([
      [1, 'test://b'],
      [2, 'test://b'],
    ]);
    line.send(cancel(1));
    await until(() => !client?.slots.has('test://a'));
    expect([...(client?.slots.keys() ?? [])]).toEqual(['test://b']);
    made.changed('test://b');
    await until(() => updates(line).length === 3);
    expect(updates(line)[2]).toEqual([2, 'test://b']);
    line.send(cancel(2));
    await until(() => client?.slots.size === 0);
    // The connection itself goes on.
    await pong(line, 3);
  });

  test('a request that the protocol refuses holds nothing', async () => {
    const made = fake();
    await using line = wire(workshop({ resources: made.resources }).surface);
    await pong(line, 1);
    line.send(listen(2, ['test://a'], { toolsListChanged: 'yes' }));
    expect((await line.answer(2)).error?.code).toBe(-32602);
    const [client] = made.clients;
    await until(() => client?.slots.size === 0);
    const old = { ...envelope, 'io.modelcontextprotocol/protocolVersion': '1999-01-01' };
    const params = { _meta: old, notifications: { resourceSubscriptions: ['test://a'] } };
    line.send({ jsonrpc: '2.0', id: 3, method: 'subscriptions/listen', params });
    expect((await line.answer(3)).error).toBeDefined();
    await until(() => client?.slots.size === 0);
  });

  test('only a request that wants to hear of the list does', async () => {
    const made = fake();
    await using line = wire(workshop({ resources: made.resources }).surface);
    line.send(listen(1, ['test://a']));
    await acknowledged(line, 1);
    const [client] = made.clients;
    expect(client?.hearsOfList).toBe(false);
    line.send(listen(2, [], { resourcesListChanged: true }));
    await acknowledged(line, 2);
    expect(client?.hearsOfList).toBe(true);
    made.listChanged();
    const told = await line.find(({ method }) => method === 'notifications/resources/list_changed');
    expect(told.params?.['_meta']).toEqual({ 'io.modelcontextprotocol/subscriptionId': 2 });
    line.send(cancel(2));
    await until(() => client?.hearsOfList === false);
  });

  test('100,000 URIs in one request, most of them nonsense: 1024 are looked at, the rest is left out', async () => {
    const made = fake();
    let asked = 0;
    const call = callWithoutTerminals();
    const resources = made.resources;
    const counted: typeof call = (op, raw, context) => {
      if (op === resources.operations.subscribe) asked += 1;
      return call(op, raw, context);
    };
    await using line = wire(workshop({ resources, call: counted }).surface);
    line.send(
      listen(1, ['test://a', ...Array.from({ length: 100_000 }, (_, index) => `nowhere://${index}`), 'test://z']),
    );
    // Another request does not wait for it.
    await pong(line, 2);
    expect(await acknowledged(line, 1)).toEqual(['test://a']);
    expect(asked).toBe(1024);
  });

  test('requests that do not wait for an answer are refused from the 65th on', async () => {
    const made = fake();
    await using line = wire(workshop({ resources: made.resources }).surface);
    const many = Array.from({ length: 1000 }, (_, index) => `test://${index}`);
    for (let id = 1; id <= 80; id++) line.send(listen(id, many));
    const { error } = await line.answer(80);
    expect(error).toMatchObject({ code: -32603, data: { code: 'MAX_SUBS_TOTAL_EXCEEDED', hint: expect.any(String) } });
    await acknowledged(line, 64);
  });
});

test('a call that the policy refuses is no mistake of the server: −32603, POLICY_BLOCKED', async () => {
  const made = fake();
  const blocked: ReturnType<typeof callWithoutTerminals> = () =>
    Promise.reject(new FairleadError('not_permitted', 'The policy says no.'));
  await using line = wire(workshop({ resources: made.resources, call: blocked }).surface);
  line.send(initialize('2025-11-25'));
  line.send({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'test://a' } });
  expect((await line.answer(1)).error).toEqual({
    code: -32603,
    message: 'The policy says no.',
    data: { code: 'POLICY_BLOCKED', hint: 'Do it another way, or ask the person to allow it.' },
  });
});

test('a list in pages, with warnings of leaks', async () => {
  const made = fake();
  await using line = wire(workshop({ resources: made.resources }).surface);
  line.send(initialize('2025-11-25'));
  line.send({ jsonrpc: '2.0', id: 1, method: 'resources/list' });
  const { result } = await line.answer(1);
  expect(result).toEqual({ resources: [], nextCursor: '1000', _meta: { warnings: [{ code: 'SUB_LEAK_RISK' }] } });
  line.send({ jsonrpc: '2.0', id: 2, method: 'resources/list', params: { cursor: '1000' } });
  expect((await line.answer(2)).result.nextCursor).toBeUndefined();
});

describe('a tool knows which client calls', () => {
  test('on stdio, in both eras', async () => {
    for (const meta of [undefined, envelope]) {
      const made = fake();
      const { surface, waiting } = workshop({ resources: made.resources });
      await using line = wire(surface);
      if (meta === undefined) line.send(initialize('2025-11-25'));
      line.send(toolCall(1, 'clock_wait', {}, meta));
      expect([...made.clients]).toEqual([(await waiting).connected]);
    }
  });
});

test('10,000 subscribes, good, unknown and malformed: each is answered, and one subscription is held', async () => {
  await using place = new ResourcePlace();
  const { uri } = await place.terminal();
  await using line = wire(place.surface);
  line.send(initialize('2025-11-25'));
  line.send(initialized);
  const odd = [uri, 'terminal://t_no/output', 'x', `${uri}?cursor=\u202e`, `${uri}?${'q'.repeat(5000)}`];
  const codes = new Map<string, number>();
  for (let batch = 0; batch < 20; batch++) {
    for (let at = 0; at < 500; at++) {
      const params = { uri: odd[at % odd.length] };
      line.send({ jsonrpc: '2.0', id: batch * 500 + at + 1, method: 'resources/subscribe', params });
    }
    await until(() => line.lines.length > (batch + 1) * 500);
  }
  for (const text of line.lines.slice(1)) {
    const { error } = JSON.parse(text) as { error?: { code: number; message: string; data: Record<string, unknown> } };
    const key = `${error?.code} ${String(error?.data['code'])} ${String(error?.data['reason'])}`;
    codes.set(key, (codes.get(key) ?? 0) + 1);
    expect(text.length).toBeLessThan(1500);
  }
  expect(Object.fromEntries(codes)).toEqual({
    'undefined undefined undefined': 2000,
    '-32002 RESOURCE_GONE undefined': 2000,
    '-32602 INVALID_ARGUMENT BadScheme': 2000,
    '-32602 INVALID_ARGUMENT BadCursor': 2000,
    '-32602 INVALID_ARGUMENT undefined': 2000,
  });
  expect(place.held).toEqual({ subscriptions: 1, topics: 1 });
});

describe('a client that never reads', () => {
  const big = `test://${'x'.repeat(50_000)}`;

  test('stdio: holds one note, however often something changes, and ends when its input does', async () => {
    const made = fake();
    let taken = 0;
    const stuck = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _encoding, done) {
        taken += chunk.length;
        if (taken < 2000) done();
      },
    });
    const line = wire(workshop({ resources: made.resources }).surface, { stdout: stuck, from: new PassThrough() });
    line.send(initialize('2025-11-25'));
    line.send(initialized);
    line.send({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: big } });
    await until(() => [...made.clients][0]?.slots.size === 1);
    const [client] = made.clients;
    for (let change = 0; change < 10_000; change++) {
      made.changed(big);
      if (change % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => client?.pulled === 1);
    for (let change = 0; change < 100; change++) made.changed(big);
    await new Promise((resolve) => setImmediate(resolve));
    expect(client?.pulled).toBe(1);
    line.stdin.end();
    await line.served;
    expect(made.clients.size).toBe(0);
  });

  const open = { host: '127.0.0.1', port: 0, allowedHosts: [], allowedOrigins: [] };
  const request = (method: string, body: object | undefined, headers: Record<string, string>): string => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const lines = Object.entries({
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'content-length': String(Buffer.byteLength(text)),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}`);
    return `${method} /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${text}`;
  };
  const silent = async (port: number, text: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.on('error', () => {});
    await new Promise<void>((resolve) => socket.write(text, () => resolve()));
    return socket;
  };
  /** Changes it until its door has stopped pulling for a hundred turns. */
  const flood = async (made: FakeResources, uri: string): Promise<number> => {
    const [client] = made.clients;
    let still = 0;
    for (let before = -1; still < 100; before = client?.pulled ?? 0) {
      made.changed(uri);
      await new Promise((resolve) => setTimeout(resolve, 1));
      still = client?.pulled === before ? still + 1 : 0;
    }
    return client?.pulled ?? 0;
  };

  test('HTTP of 2026: what it does not take is not made, and the end of its socket frees all', async () => {
    const made = fake();
    await using server = await serveMcpHttp(workshop({ resources: made.resources }).surface, open);
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
    const socket = await silent(server.port, request('POST', listen(1, [big]), headers));
    await until(() => [...made.clients][0]?.slots.size === 1);
    // 50 kB each: buffers of sockets hold some, the server none.
    expect((await flood(made, big)) * 50_000).toBeLessThan(16 << 20);
    socket.destroy();
    await until(() => made.clients.size === 0);
  });

  test('HTTP of 2026: a client that leaves before its stream begins leaves nothing behind', async () => {
    const made = fake();
    const arrived = deferred();
    const seen = deferred();
    const call = callWithoutTerminals();
    const slow: typeof call = async (op, raw, context) => {
      arrived.resolve();
      await new Promise<void>((resolve) => void onAbort(context.signal, resolve));
      seen.resolve();
      return await call(op, raw, context);
    };
    const { surface } = workshop({ resources: made.resources, call: slow });
    await using server = await serveMcpHttp(surface, open);
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
    const socket = await silent(server.port, request('POST', listen(1, ['test://a']), headers));
    await arrived.promise;
    expect(made.clients.size).toBe(1);
    socket.destroy();
    await seen.promise;
    await expect.poll(() => made.clients.size).toBe(0);
  });

  test('HTTP of 2025: without a stream nothing is pulled, and it stays a client until its session ends', async () => {
    const made = fake();
    await using server = await serveMcpHttp(workshop({ resources: made.resources }).surface, open);
    const post = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(server.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify(body),
      });
    const hello = await post(initialize('2025-11-25'));
    await hello.text();
    const headers = {
      'mcp-session-id': hello.headers.get('mcp-session-id') ?? '',
      'mcp-protocol-version': '2025-11-25',
    };
    const subscribe = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: big } };
    await (await post(subscribe, headers)).text();
    const [client] = made.clients;
    made.changed(big);
    await (await post({ jsonrpc: '2.0', id: 2, method: 'ping' }, headers)).text();
    // Without a stream nothing is pulled: it waits with the client.
    expect([client?.pulled, client?.presence?.streams]).toEqual([0, 0]);
    const socket = await silent(server.port, request('GET', undefined, headers));
    await until(() => client?.presence?.streams === 1);
    expect((await flood(made, big)) * 50_000).toBeLessThan(16 << 20);
    socket.destroy();
    await until(() => client?.presence?.streams === 0);
    expect(made.clients.size).toBe(1);
    await (await fetch(server.url, { method: 'DELETE', headers })).text();
    expect(made.clients.size).toBe(0);
  });
});
