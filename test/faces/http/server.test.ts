import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { sendText } from '../../../src/faces/http/reply.ts';
import type { Guard, Route } from '../../../src/faces/http/route.ts';
import { HttpServer } from '../../../src/faces/http/server.ts';

const open: Guard = { connected: () => {}, admit: (visit) => Promise.resolve(visit) };

/** Answers with its own path and the one asked for. */
const echo = (path: string, more: Partial<Route> = {}): Route => ({
  path,
  async handle({ response, path: asked, body }) {
    sendText(response, 200, `${path} ${asked} ${await body(100)}`, {});
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
  ...more,
});

const listen = (routes: readonly Route[], more = {}): Promise<HttpServer> =>
  HttpServer.listen({ host: '127.0.0.1', ports: [0], guard: open, routes, ...more });

test('a route answers its own path, and those below it when it says so', async () => {
  await using server = await listen([echo('/a'), echo('/b', { below: true })]);
  const ask = async (path: string) => (await fetch(`${server.url}${path}`)).text();
  expect(await ask('/a?x=/b')).toBe('/a /a ');
  expect(await ask('/b')).toBe('/b /b ');
  expect(await ask('/b/c/d')).toBe('/b /b/c/d ');
  for (const path of ['/', '/a/', '/a/b', '/bb', '/A']) expect(await ask(path), path).toContain('"not_found"');
  expect(await ask('/c')).toContain('There is /a, /b.');
});

test('a route that throws is told to the server, and its client is hung up on', async () => {
  const errors: string[] = [];
  const broken = echo('/broken', { handle: () => Promise.reject(new Error('broken')) });
  await using server = await listen([broken, echo('/a')], { onError: ({ message }: Error) => errors.push(message) });
  await expect(fetch(`${server.url}/broken`)).rejects.toThrow('fetch failed');
  expect(errors).toEqual(['broken']);
  expect((await fetch(`${server.url}/a`)).status).toBe(200);
});

test('the guard sees every connection and request; what it refuses reaches no route', async () => {
  const seen: string[] = [];
  const guard: Guard = {
    connected: () => void seen.push('connection'),
    admit({ response, path }, route) {
      seen.push(`${path} ${route?.path}`);
      sendText(response, 403, 'no', {});
      return Promise.resolve(undefined);
    },
  };
  const never = echo('/a', { handle: () => Promise.reject(new Error('It was handled.')) });
  const errors: Error[] = [];
  await using server = await listen([never], { guard, onError: (error: Error) => errors.push(error) });
  for (const path of ['/a', '/b']) expect((await fetch(`${server.url}${path}`)).status).toBe(403);
  expect(seen.filter((one) => one !== 'connection')).toEqual(['/a /a', '/b undefined']);
  expect(seen[0]).toBe('connection');
  expect(errors).toEqual([]);
});

test('routes end with the server, and when it cannot listen', async () => {
  const ended: string[] = [];
  const route = (name: string): Route =>
    echo(`/${name}`, {
      [Symbol.asyncDispose]: () => {
        ended.push(name);
        return Promise.resolve();
      },
    });
  const server = await listen([route('one')]);
  const taken = listen([route('two')], { ports: [server.port] });
  await expect(taken).rejects.toMatchObject({ code: 'unavailable' });
  expect(ended).toEqual(['two']);
  await server[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  expect(ended).toEqual(['two', 'one']);
});

test('a request that does not arrive in time is ended: its headers, or its body', async () => {
  await using server = await listen([echo('/a')], { requestMs: 200 });
  const heads = ['POST /a HTTP/1.1\r\n', 'POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf'];
  const answers = heads.map(async (head) => {
    const socket = connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.on('error', () => {});
    socket.write(head);
    await once(socket, 'close');
    return text;
  });
  for (const text of await Promise.all(answers)) expect(text).toMatch(/^(HTTP\/1\.1 408 |$)/);
});
