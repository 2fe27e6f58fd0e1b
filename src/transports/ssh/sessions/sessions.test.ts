import { expect, test } from 'vitest';
import { connected, FakeLink, settled } from '../../../../test/support/ssh/fake-ssh.ts';
import { ManualClock } from '../../../../test/support/clocks/manual.ts';
import { deferred } from '../../../lib/deferred.ts';
import type { Connected, ConnectRequest } from './connect.ts';
import type { LiveSession } from './live-session.ts';
import { ranked } from './ranked.ts';
import type { SessionEnd } from './session.ts';
import { type SshSessionRequest, SshSessions } from './sessions.ts';
import { defaultSshSettings } from '../settings.ts';

const never = new AbortController().signal;
const me = 'me';

function setUp(settings = {}) {
  const clock = new ManualClock();
  const links: FakeLink[] = [];
  const asked: ConnectRequest[] = [];
  const connector = {
    /** Replaced by tests that hold a connection up. */
    connect: async (request: ConnectRequest, _signal: AbortSignal): Promise<Connected> => {
      asked.push(request);
      const link = new FakeLink();
      links.push(link);
      const [host = '', port = '22'] = request.address.split(':');
      return connected(link, { host, port: Number(port), username: request.username ?? 'alice' });
    },
  };
  const sessions = new SshSessions({
    connector: {
      connect: (wanted, signal) => connector.connect(wanted, signal),
      wayTo: async ({ address, username }) => `${username}@${address.toLowerCase().replace(/:22$/, '')}`,
    },
    settings: { ...defaultSshSettings, ...settings },
    clock,
  });
  const health: string[] = [];
  sessions.health.on((event) => health.push(event.health));
  const connect = (more: Partial<SshSessionRequest> = {}, principal = me, signal = never) =>
    sessions.connect({ ...request, ...more }, principal, signal);
  const open = async (more: Partial<SshSessionRequest> = {}, principal = me): Promise<LiveSession> => {
    const outcome = await connect({ reuse: 'force_new', ...more }, principal);
    if (outcome.status !== 'ok') throw new Error(outcome.status);
    return outcome.session;
  };
  return { clock, links, asked, connector, sessions, health, connect, open };
}

const request: SshSessionRequest = {
  address: 'box',
  username: 'alice',
  maxRetries: 0,
  retryDelayMs: 0,
  compress: false,
  reuse: 'auto',
};

test('same agent first, then the newest', () => {
  const one = (id: string, agentId: string | undefined, connectedAt: number) => ({ id, agentId, connectedAt });
  const all = [one('a', 'x', 1), one('b', undefined, 4), one('c', 'y', 3), one('d', 'x', 2)];
  expect(ranked(all, 'x').map(({ id }) => id)).toEqual(['d', 'a', 'b', 'c']);
  expect(ranked(all, undefined).map(({ id }) => id)).toEqual(['b', 'c', 'd', 'a']);
});

test('what leads to the same place is the same, however it is written', async () => {
  const { open, connect } = setUp();
  const session = await open();
  expect(await connect({ address: 'BOX:22' })).toMatchObject({ status: 'reused', session: { id: session.id } });
  expect(await connect({ address: 'box:23' })).toMatchObject({ status: 'ok' });
  expect(await connect({ username: 'Alice' })).toMatchObject({ status: 'ok' });
});

test('auto takes the best healthy one; dead ones are purged and counted (row 1)', async () => {
  const { open, connect, links, sessions } = setUp();
  await open();
  const mine = await open({ agentId: 'x' });
  await open({ agentId: 'y' });
  expect(await connect({ agentId: 'x' })).toMatchObject({ status: 'reused', session: { id: mine.id }, replaced: 0 });
  for (const link of links) link.lose();
  await settled();
  expect(sessions.all(me)).toHaveLength(0);
});

test('a far side that answers nothing for five seconds is dead', async () => {
  const { open, connect, links, clock, health } = setUp();
  await open();
  (links[0] as FakeLink).silent = true;
  const outcome = connect();
  await settled();
  clock.advance(5_000);
  expect(await outcome).toMatchObject({ status: 'ok', replaced: 1 });
  expect(health).toEqual(['disconnected']);
});

test('a server that refuses exec but answers a keepalive is healthy (spec 7)', async () => {
  const { open, connect, links } = setUp();
  const session = await open();
  (links[0] as FakeLink).refuse = 'request';
  expect(await connect()).toMatchObject({ status: 'reused', session: { id: session.id } });
});

test('a server that answers but runs nothing is unhealthy: kept, listed, not chosen', async () => {
  const { open, connect, sessions, links, clock, health } = setUp();
  const session = await open();
  const link = links[0] as FakeLink;
  link.stuck = true;
  const suggested = connect({ reuse: 'suggest' });
  await settled();
  clock.advance(5_000);
  expect(await suggested).toMatchObject({ status: 'suggested', matches: [{ id: session.id, healthy: false }] });
  expect(link.running).toEqual([]);
  const auto = connect();
  await settled();
  clock.advance(5_000);
  expect(await auto).toMatchObject({ status: 'ok', replaced: 0 });
  expect(session.ended).toBeUndefined();
  link.stuck = false;
  expect(await sessions.revive(session.id, me, never)).toBe(session);
  expect(session.healthy).toBe(true);
  expect(health).toEqual(['unhealthy', 'unhealthy', 'healthy']);
});

test('force_new probes nothing; suggest lists without connecting', async () => {
  const { open, connect, links, asked } = setUp();
  await open();
  await open();
  expect(links.flatMap(({ seen }) => seen)).toEqual([]);
  const outcome = await connect({ reuse: 'suggest' });
  expect(outcome).toMatchObject({ status: 'suggested', matches: [{ connectedAt: 0 }, { connectedAt: 0 }] });
  expect(asked).toHaveLength(2);
  expect(links.flatMap(({ seen }) => seen)).toEqual(['echo 1', 'echo 1']);
});

test('two that want the same place at once get one session', async () => {
  const { connect, asked } = setUp();
  const [a, b] = await Promise.all([connect(), connect({ agentId: 'x' })]);
  expect([a.status, b.status].toSorted()).toEqual(['ok', 'reused']);
  expect(asked).toHaveLength(1);
});

test('who waited for a connection that its maker gave up makes its own', async () => {
  const { connect, connector, asked } = setUp();
  const real = connector.connect;
  const stop = new AbortController();
  connector.connect = async (wanted, signal) =>
    await new Promise((_, reject) => {
      asked.push(wanted);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  const first = expect(connect({}, me, stop.signal)).rejects.toThrow('bye');
  const second = connect();
  await settled();
  expect(asked).toHaveLength(1);
  connector.connect = real;
  stop.abort(new Error('bye'));
  await first;
  expect(await second).toMatchObject({ status: 'ok' });
  expect(asked).toHaveLength(2);
});

test('principals do not share: not the sessions, not the connections being made, not the ids (10.30)', async () => {
  const { connect, open, sessions, asked } = setUp();
  const session = await open();
  await Promise.all([connect({}, 'other'), connect({ address: 'new' }), connect({ address: 'new' }, 'other')]);
  expect(asked).toHaveLength(4);
  expect(() => sessions.find(session.id, 'other')).toThrow(`no session with id ${session.id}`);
  const others = sessions.all('other').map(({ id }) => id);
  expect(() => sessions.find(session.id, 'other')).toThrow(
    expect.objectContaining({ data: expect.objectContaining({ closest: expect.arrayContaining(others) }) }) as Error,
  );
  await expect(sessions.disconnect(session.id, 'other')).rejects.toMatchObject({ data: { wire: 'SESSION_NOT_FOUND' } });
  expect(session.ended).toBeUndefined();
});

test('sessions being made count against the limit', async () => {
  const { connect, connector } = setUp({ maxSessions: 2 });
  const gate = deferred<Connected>();
  connector.connect = () => gate.promise;
  const first = connect({ address: 'a' });
  const second = connect({ address: 'b' });
  await settled();
  await expect(connect({ address: 'c' })).rejects.toMatchObject({
    data: { wire: 'MAX_SESSIONS_EXCEEDED', context: 'limit=2' },
  });
  gate.resolve(connected(new FakeLink()));
  await Promise.all([first, second]);
});

test('an idle session ends; one with business or marked persistent does not (4.7)', async () => {
  const { open, clock, sessions, links } = setUp({ inactivityTimeoutMs: 1_000 });
  const idle = await open();
  const busy = await open();
  const forever = await open({ persistent: true });
  const ends: SessionEnd[] = [];
  const child = busy.adopt({
    kind: 'command',
    sessionEnded: async (end) => void ends.push(end),
  });
  expect(forever.expiresAt).toBeUndefined();
  expect(idle.expiresAt).toBe(1_000);
  clock.advance(600);
  sessions.find(idle.id, me);
  expect(idle.expiresAt).toBe(1_600);
  clock.advance(999);
  expect(idle.ended).toBeUndefined();
  clock.advance(1);
  expect(idle.ended).toEqual({ by: 'idle' });
  await settled();
  expect(links[0]?.end).toEqual({ by: 'us' });
  clock.advance(10_000);
  expect(sessions.all(me).map(({ id }) => id)).toEqual([busy.id, forever.id]);
  child[Symbol.dispose]();
  clock.advance(999);
  expect(busy.ended).toBeUndefined();
  clock.advance(1);
  expect(busy.ended).toEqual({ by: 'idle' });
  expect(ends).toEqual([]);
  expect(() => busy.adopt({ kind: 'shell', sessionEnded: async () => {} })).toThrow('was idle for too long');
});

test('a missed keepalive makes it unhealthy, three end it (spec 7, 9.4)', async () => {
  const { open, clock, links, health } = setUp({ inactivityTimeoutMs: 0 });
  const session = await open();
  const link = links[0] as FakeLink;
  const ends: SessionEnd[] = [];
  session.adopt({ kind: 'shell', sessionEnded: async (end) => void ends.push(end) });
  const minute = async (): Promise<void> => {
    clock.advance(30_000);
    await settled();
  };
  await minute();
  expect(health).toEqual([]);
  link.silent = true;
  await minute();
  await minute();
  expect([health, session.healthy]).toEqual([['unhealthy'], false]);
  link.silent = false;
  await minute();
  expect([health, session.healthy]).toEqual([['unhealthy', 'healthy'], true]);
  link.silent = true;
  for (let times = 0; times < 4; times += 1) await minute();
  expect(session.ended).toEqual({ by: 'lost', reason: 'The server stopped answering.' });
  expect(ends).toEqual([session.ended]);
  expect(health.slice(2)).toEqual(['unhealthy', 'disconnected']);
  expect(link.end).toEqual({ by: 'us' });
});

test('a session made for one call is given back only if nobody else was given it', async () => {
  const { connect, sessions } = setUp();
  const [a, b] = await Promise.all([connect(), connect()]);
  if (a.status === 'suggested' || b.status === 'suggested') throw new Error('suggested');
  expect(await sessions.release(a.session)).toBe(false);
  const own = await connect({ address: 'elsewhere' });
  if (own.status !== 'ok') throw new Error(own.status);
  expect(await sessions.release(own.session)).toBe(true);
  expect(sessions.all(me)).toHaveLength(1);
});

test('the end takes everything along, also what is being made, and leaves no timer', async () => {
  const { open, connect, connector, sessions, links, clock } = setUp();
  const session = await open();
  let told: SessionEnd | undefined;
  session.adopt({ kind: 'command', sessionEnded: async (end) => void (told = end) });
  connector.connect = async (_, signal) =>
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  const making = expect(connect({ address: 'slow' })).rejects.toThrow('shutting down');
  await settled();
  await sessions[Symbol.asyncDispose]();
  await making;
  expect(told).toEqual({ by: 'disconnect' });
  expect(links.map(({ end }) => end)).toEqual([{ by: 'us' }]);
  expect(clock.timers).toBe(0);
  await expect(connect()).rejects.toThrow('shutting down');
});
