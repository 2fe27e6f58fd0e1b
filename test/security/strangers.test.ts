import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { notice, servePages } from '../../src/faces/ask-page/serve-pages.ts';
import { type FailedLogin, FailedLogins } from '../../src/faces/door/failed-logins.ts';
import { MethodTable } from '../../src/faces/jsonrpc/methods.ts';
import { RpcServer } from '../../src/faces/jsonrpc/server.ts';
import { HttpServer } from '../../src/faces/http/server.ts';
import { TokenGuard } from '../../src/faces/http/token-guard.ts';
import { serveMcpHttp } from '../support/mcp/http.ts';
import { initialize } from '../support/mcp/wire.ts';
import { workshop } from '../support/mcp/workshop.ts';
import { RpcClient } from '../support/rpc.ts';
import { Served } from '../support/served.ts';

/** What somebody can do who reaches a port and does not have the token. */
const token = '5f3c2a1e-0000-4000-8000-000000000000';

function listenRpc(failed?: FailedLogins): Promise<RpcServer> {
  const methods = new MethodTable([], () => Promise.reject(new Error('none')));
  return RpcServer.listen({ host: '127.0.0.1', port: 0, token, methods, clock: systemClock, failed });
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Everything the server says before it closes the connection. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  await once(socket, 'close');
  return text;
}

test('RPC: the first line that is no request ends a connection without the token', async () => {
  await using rpc = await listenRpc();
  for (const line of ['GET / HTTP/1.1\r\n', '\x16\x03\x01\n', '[]\n']) {
    const socket = await open(rpc.port);
    socket.write(line);
    expect(JSON.parse(await untilClosed(socket)), line).toMatchObject({ id: null, error: {} });
  }
});

test('RPC: before login a line has at most 64 KiB, whole or not', async () => {
  await using rpc = await listenRpc();
  for (const end of ['', '"}}\n']) {
    const socket = await open(rpc.port);
    const said = untilClosed(socket);
    socket.write(`{"id":1,"method":"auth.login","params":{"token":"${'x'.repeat(200_000)}${end}`);
    expect(await said).toContain('log in first');
  }
});

test('RPC: logins sent in one go without waiting are few; the token and a long line behind it still pass', async () => {
  await using rpc = await listenRpc();
  const greedy = await open(rpc.port);
  const said = untilClosed(greedy);
  greedy.write('{"method":"auth.login","params":{"token":"x"}}\n'.repeat(10_000));
  expect((await said).split('\n').length).toBeLessThan(20);
  using client = await RpcClient.connect(rpc.port);
  client.send(
    `{"id":1,"method":"auth.login","params":{"token":"${token}"}}\n{"id":2,"method":"no.such","params":{"x":"${'y'.repeat(1 << 20)}"}}\n`,
  );
  expect(await client.next()).toMatchObject({ id: 1, result: { status: 'ok' } });
  expect(await client.next()).toMatchObject({ id: 2, error: { message: 'Unknown method: no.such' } });
});

test('RPC: a client may send its login and all its calls, even a wrong one, in one go', async () => {
  await using rpc = await listenRpc();
  using client = await RpcClient.connect(rpc.port);
  const calls = Array.from({ length: 50 }, (_, id) => `{"id":${id},"method":"no.such"}\n`).join('');
  client.send(`{"id":"in","method":"auth.login","params":{"token":"${token}"}}\nnot JSON\n${calls}`);
  expect(await client.next()).toMatchObject({ id: 'in', result: { status: 'ok' } });
  expect(await client.next()).toMatchObject({ id: null, error: { code: -32700 } });
  for (let id = 0; id < 50; id += 1) expect(await client.next()).toMatchObject({ id, error: {} });
});

test('RPC: behind logins that wait for their answers, too, a stranger sends at most 64 KiB', async () => {
  const told: FailedLogin[] = [];
  using failed = new FailedLogins(systemClock, (one) => told.push(one));
  for (let n = 0; n < 5; n += 1) failed.add({ peer: 'x', face: 'rpc' });
  await using rpc = await listenRpc(failed);
  const socket = await open(rpc.port);
  const said = untilClosed(socket);
  socket.write(`${'{"method":"auth.login","params":{"token":"x"}}\n'.repeat(8)}${'x'.repeat(1 << 20)}`);
  expect(await said).toContain('log in first');
  // Refused while the first of them waits, not when all have been answered.
  expect(told.length - 5).toBeLessThan(4);
}, 30_000);

test('a thousand strangers hold few connections, and those with the token stay', async () => {
  await using rpc = await listenRpc();
  using owner = await RpcClient.connect(rpc.port, token);
  const strangers = await Promise.all(Array.from({ length: 1000 }, () => open(rpc.port)));
  await expect.poll(() => rpc.connections).toBeLessThanOrEqual(257);
  using late = await RpcClient.connect(rpc.port, token);
  for (const client of [owner, late]) expect((await client.ask('no.such')).error?.message).toContain('Unknown method');
  for (const socket of strangers) socket.destroy();
});

test('wrong tokens are told, and slow the answers to other wrong ones down, never to the right one', async () => {
  const told: FailedLogin[] = [];
  using failed = new FailedLogins(systemClock, (one) => told.push(one));
  await using rpc = await listenRpc(failed);
  for (let n = 0; n < 5; n += 1) {
    using client = await RpcClient.connect(rpc.port);
    expect((await client.ask('auth.login', { token: 'wrong' })).error?.code).toBe(-32001);
  }
  expect(told.map(({ face, count }) => [face, count])).toEqual(Array.from({ length: 5 }, () => ['rpc', 1]));
  expect(told[0]?.peer).toMatch(/^127\.0\.0\.1:\d+$/);
  using wrong = await RpcClient.connect(rpc.port);
  const before = performance.now();
  const late = wrong.ask('auth.login', { token: 'wrong' });
  using right = await RpcClient.connect(rpc.port, token);
  expect((await right.ask('no.such')).error?.message).toContain('Unknown method');
  await late;
  expect(performance.now() - before).toBeGreaterThan(900);
});

const rules = { token, allowedHosts: [], allowedOrigins: [] };

test('HTTP: half-open connections are dropped, oldest first, and the owner is served', async () => {
  const shop = workshop();
  await using server = await serveMcpHttp(shop.surface, rules);
  const closed: number[] = [];
  const strangers = await Promise.all(
    Array.from({ length: 600 }, async (_, n) => {
      const socket = await open(server.port);
      socket.on('close', () => closed.push(n));
      socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\n');
      return socket;
    }),
  );
  await expect.poll(() => closed.length).toBeGreaterThanOrEqual(600 - 256);
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const answer = await fetch(server.url, { method: 'POST', headers, body: JSON.stringify(initialize('2025-11-25')) });
  expect(answer.status).toBe(200);
  for (const socket of strangers) socket.destroy();
});

test('HTTP: wrong tokens are told and slowed down; a request without one is only refused', async () => {
  const told: FailedLogin[] = [];
  using failed = new FailedLogins(systemClock, (one) => told.push(one));
  const shop = workshop();
  await using server = await serveMcpHttp(shop.surface, { ...rules, failed });
  const ask = (authorization?: string): Promise<Response> =>
    fetch(server.url, { method: 'POST', headers: authorization === undefined ? {} : { authorization } });
  expect((await ask()).status).toBe(401);
  expect(told).toEqual([]);
  for (let n = 0; n < 5; n += 1) expect((await ask('Bearer wrong')).status).toBe(401);
  const before = performance.now();
  expect((await ask('Bearer wrong')).status).toBe(401);
  expect(performance.now() - before).toBeGreaterThan(900);
  expect(told.map(({ face }) => face)).toEqual(['http', 'http', 'http', 'http', 'http', 'http']);
});

test('HTTP: a stranger who sends guesses without waiting for the answers is dropped', async () => {
  const told: FailedLogin[] = [];
  const failed = new FailedLogins(systemClock, (one) => told.push(one));
  for (let n = 0; n < 5; n += 1) failed.add({ peer: 'x', face: 'http' });
  const shop = workshop();
  await using server = await serveMcpHttp(shop.surface, { ...rules, failed });
  const socket = await open(server.port);
  const said = untilClosed(socket);
  socket.write('GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n'.repeat(500));
  await said;
  failed[Symbol.dispose]();
  expect(told.reduce((sum, { count }) => sum + count, -5)).toBe(1);
});

test.each([
  ['two Host headers', 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n', 400],
  ['a port that is none', 'POST /mcp HTTP/1.1\r\nHost: localhost:99999\r\n', 400],
  ['a port without a name', 'POST /mcp HTTP/1.1\r\nHost: :7420\r\n', 400],
  ['TRACE', 'TRACE /mcp HTTP/1.1\r\nHost: localhost\r\n', 405],
])('HTTP: %s', async (_, head, status) => {
  const shop = workshop();
  await using server = await serveMcpHttp(shop.surface, rules);
  const socket = await open(server.port);
  socket.write(`${head}Authorization: Bearer ${token}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  expect(await untilClosed(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test.each([
  ['id', (deep: string) => `{"jsonrpc":"2.0","id":${deep},"method":"ping"}`],
  [
    'arguments',
    (deep: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${deep}}}`,
  ],
])('HTTP: a deep %s is refused with 400', async (_, body) => {
  const shop = workshop();
  await using server = await serveMcpHttp(shop.surface, rules);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const answer = await fetch(server.url, { method: 'POST', headers, body: body(deep) });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: -32600 } });
});

test('the page for secrets: half-open connections do not keep the person out', async () => {
  await using page = await servePages(async () => notice(200, 'Hello', 'It is you.'));
  const { port } = new URL(page.url);
  const strangers = await Promise.all(Array.from({ length: 100 }, () => open(Number(port))));
  const answer = await fetch(page.url);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('It is you.')]);
  for (const socket of strangers) socket.destroy();
});

test('a fixed token is not sent to the program that took the port: the server refuses to start elsewhere', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  try {
    const guard = new TokenGuard(rules);
    const wanted = { host: '127.0.0.1', ports: [port, 0], guard, routes: [] };
    await expect(HttpServer.listen({ ...wanted, mayMove: () => false })).rejects.toThrow(/taken.*token is fixed/i);
    await using moved = await HttpServer.listen({ ...wanted, mayMove: () => true });
    expect(moved.port).not.toBe(port);
    const args = ['--port', '0', '--rpc-port', String(port)];
    await expect(Served.start(args, { FAIRLEAD_TOKEN: token })).rejects.toThrow('The token is fixed');
  } finally {
    other.close();
  }
});

test('a token that can be guessed is refused, and not repeated', async () => {
  const weak = 'passwordpasswordpassword';
  const refused = await Served.start([], { FAIRLEAD_TOKEN: weak }).catch((error: Error) => error.message);
  expect(refused).toContain('openssl rand -hex 24');
  expect(refused).not.toContain(weak);
});
