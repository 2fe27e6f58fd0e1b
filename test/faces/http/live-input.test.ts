import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { LiveDesk } from '../../support/live-desk.ts';

type Frame = Record<string, unknown>;

/** A socket that has said hello, and what it was answered. */
async function connected(desk: LiveDesk) {
  const socket = desk.socket();
  const frames: Frame[] = [];
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Frame));
  await once(socket, 'open');
  socket.send(JSON.stringify({ t: 'hello' }));
  let next = 1;
  const call = async (op: string, input: object): Promise<Frame> => {
    const id = next++;
    socket.send(JSON.stringify({ t: 'call', id, op, input }));
    return await vi.waitUntil(() => frames.find((frame) => frame['id'] === id), { timeout: 10_000 });
  };
  return { socket, frames, call, [Symbol.dispose]: () => socket.terminate() };
}

/** The status with which an upgrade is refused. */
async function refused(socket: WebSocket): Promise<number> {
  socket.on('error', () => {});
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
  socket.terminate();
  return response.statusCode;
}

test('a caller that may only look reads everything and types, resizes or takes nothing', async () => {
  await using desk = await LiveDesk.open({ may: (access) => access === 'observe' });
  using page = await connected(desk);
  const session = desk.terminal.id;
  desk.far.say('hello');
  const acts = [
    ['person.type', { session, text: 'rm -rf /\r' }],
    ['person.type', { session, text: '\x03' }],
    ['person.resize', { session, cols: 20, rows: 5 }],
    ['person.take', { session }],
    ['person.give', { session, epoch: 0 }],
  ] as const;
  for (const [op, input] of acts) {
    expect(await page.call(op, input), op).toMatchObject({ t: 'failed', error: { code: 'not_permitted' } });
  }
  expect(desk.far.written).toEqual([]);
  expect(desk.far.sizes).toHaveLength(1);
  expect(desk.terminal.input.lease.holder).toBeUndefined();
  page.socket.send(JSON.stringify({ t: 'open', ch: 1, stream: 'person.follow', input: { session, from: 0 } }));
  await vi.waitUntil(() => page.frames.some(({ t }) => t === 'item'), { timeout: 10_000 });
});

test('R-HUB-087: input of a stale epoch, or without one, is refused where it would be typed', async () => {
  await using desk = await LiveDesk.open();
  using page = await connected(desk);
  const session = desk.terminal.id;
  const taken = await page.call('person.take', { session });
  const { epoch } = taken['output'] as { epoch: number };
  for (const stale of [epoch - 1, epoch + 1, undefined]) {
    const input = { session, text: 'late', ...(stale === undefined ? {} : { epoch: stale }) };
    expect(await page.call('person.type', input)).toMatchObject({ t: 'failed', error: { code: 'conflict' } });
  }
  expect(desk.far.written).toEqual([]);
  expect(await page.call('person.type', { session, text: 'now', epoch })).toMatchObject({ t: 'done' });
  expect(Buffer.concat(desk.far.written).toString()).toBe('now');
});

test('another origin, another host and a missing or wrong CSRF token open nothing', async () => {
  await using desk = await LiveDesk.open();
  const login = desk.logins.begin({ browser: 'test', address: '127.0.0.1' });
  const port = new URL(desk.url).port;
  const cookie = `fairlead_${port}=${login.cookie}`;
  expect(await refused(desk.socket({ cookie, origin: 'https://evil.example' }))).toBe(403);
  expect(await refused(desk.socket({ cookie, origin: 'http://evil.example', host: `evil.example:${port}` }))).toBe(403);
  for (const hello of [
    { t: 'hello' },
    { t: 'hello', csrf: 'guess' },
    { t: 'call', id: 1, op: 'person.type', input: {} },
  ]) {
    const socket = desk.socket({ cookie, origin: desk.url });
    await once(socket, 'open');
    socket.send(JSON.stringify(hello));
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(4401);
  }
  expect(desk.far.written).toEqual([]);
});
