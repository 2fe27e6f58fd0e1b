import { setMaxListeners } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import type { SshProcess } from '../../../src/transports/ssh/link/link.ts';
import type { LiveSession } from '../../../src/transports/ssh/sessions/live-session.ts';
import type { SessionEnd } from '../../../src/transports/ssh/sessions/session.ts';
import type { SshSessionRequest } from '../../../src/transports/ssh/sessions/sessions.ts';
import { Remote, type RemoteOptions } from '../../support/ssh/remote.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { slowClock } from '../../support/clocks/slow.ts';
import { withSshd } from '../../support/ssh/login.ts';
import { isRoot, type Sshd, startSshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
withSshd((started) => (sshd = started), { config: ['MaxSessions 10'], password: isRoot });

const remote = (options: Partial<RemoteOptions> = {}): Remote =>
  new Remote({ connector: sshd.connector(), ...options });

async function open(at: Remote, more: Partial<SshSessionRequest> = {}): Promise<LiveSession> {
  const outcome = await at.ssh.sessions.connect({ ...sshd.request(), reuse: 'force_new', ...more }, 'me', limit());
  if (outcome.status !== 'ok') throw new Error(outcome.status);
  return outcome.session;
}

function limit(ms = 60_000): AbortSignal {
  const signal = AbortSignal.timeout(ms);
  setMaxListeners(0, signal);
  return signal;
}

async function output(process: SshProcess): Promise<string> {
  let text = '';
  const drain = (async () => {
    for await (const _ of process.stderr);
  })();
  for await (const chunk of process.stdout) text += Buffer.from(chunk).toString();
  await drain;
  const ended = await process.ended;
  return `${text.trim()}:${ended.by === 'exit' ? ended.code : ended.by}`;
}

const run = async (session: LiveSession, command: string, signal = limit()): Promise<string> =>
  await output(await session.exec(command, {}, signal));

/** Connections of this server that are established, by their processes. */
const logins = (): number => sshd.children().filter(({ name }) => name.startsWith('sshd')).length;

async function until(what: () => boolean, signal = limit(20_000)): Promise<void> {
  while (!what()) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const numbers = Array.from({ length: 100 }, (_, at) => at);

describe('a hundred commands at MaxSessions 10', () => {
  test('none fails, with a key', async () => {
    await using at = remote({ clock: slowClock });
    const session = await open(at);
    const answers = await Promise.all(numbers.map((n) => run(session, `echo ${n}`)));
    expect(answers).toEqual(numbers.map((n) => `${n}:0`));
    await until(() => session.slots.inUse === 0);
  });

  test.runIf(isRoot)('none fails, with a password: one connection and a queue', async () => {
    await using at = remote({ clock: slowClock });
    const session = await open(at, { keyPath: undefined, password: sshd.password });
    const answers = await Promise.all(numbers.map((n) => run(session, `sleep 0.05; echo ${n}`)));
    expect(answers).toEqual(numbers.map((n) => `${n}:0`));
    expect(session.slots.links).toBe(1);
  });

  test('a hundred long ones run at the same time, over more connections that go again', async () => {
    await using at = remote({ clock: slowClock });
    const session = await open(at);
    const running = await Promise.all(numbers.map((n) => session.exec(`read line; echo ${n}`, {}, limit())));
    expect(session.slots.inUse).toBe(100);
    expect(session.slots.links).toBe(10);
    for (const process of running) await process.write(Buffer.from('go\n'));
    expect(await Promise.all(running.map((process) => output(process)))).toEqual(numbers.map((n) => `${n}:0`));
    await at.ssh.sessions.disconnect(session.id, 'me');
    await until(() => logins() === 0);
  });

  test('a shell starts while commands wait', async () => {
    await using at = remote({ connector: noAgain(), clock: slowClock });
    const session = await open(at);
    const commands = numbers.slice(0, 40).map((n) => session.exec(`read line; echo ${n}`, {}, limit()));
    let begun = 0;
    for (const command of commands) command.then(() => (begun += 1)).catch(() => {});
    await until(() => begun === 10);
    const opening = session.shell({ term: 'xterm', size: { cols: 80, rows: 24 } }, {}, limit());
    const end = async (command: Promise<SshProcess> | undefined): Promise<string> => {
      const process = (await command) as SshProcess;
      await process.write(Buffer.from('go\n'));
      return await output(process);
    };
    // The first place that is free is for the shell, which came last.
    expect(await end(commands[0])).toBe('0:0');
    const shell = await opening;
    expect(begun).toBe(10);
    await shell.write(Buffer.from('exit 3\n'));
    expect(await output(shell)).toMatch(/:3$/);
    expect(await Promise.all(commands.slice(1).map(end))).toEqual(numbers.slice(1, 40).map((n) => `${n}:0`));
  });

  test('one that finds no channel for ten seconds: CHANNEL_FAILED', async () => {
    await using one = await startSshd({ config: ['MaxSessions 1'] });
    await using at = new Remote({ connector: one.connector() });
    const outcome = await at.ssh.sessions.connect({ ...one.request(), reuse: 'force_new' }, 'me', limit());
    if (outcome.status !== 'ok') throw new Error(outcome.status);
    const { session } = outcome;
    // Logging in again would help, so take that away.
    writeFileSync(join(one.folder, 'authorized_keys'), '');
    const holder = await session.exec('cat', {}, limit());
    const began = performance.now();
    await expect(session.exec('true', {}, limit())).rejects.toMatchObject({
      message: 'No channel of the session was free in time: all 1 are in use.',
      data: { wire: 'CHANNEL_FAILED', context: 'limit=10s' },
    });
    expect(performance.now() - began).toBeGreaterThan(9_900);
    holder.end();
    expect(await output(holder)).toBe(':0');
  });
});

describe('the end of a session', () => {
  test('a link that is cut ends its children as lost, at once; the id is gone (9.4)', async () => {
    await using at = remote();
    const session = await open(at);
    const health: string[] = [];
    at.ssh.sessions.health.on((event) => health.push(`${event.session.id === session.id} ${event.health}`));
    const command = await session.exec('echo begun; sleep 1000', {}, limit());
    const ends: SessionEnd[] = [];
    session.adopt({ kind: 'command', sessionEnded: async (end) => void ends.push(end) });
    const reader = command.stdout[Symbol.asyncIterator]();
    expect(Buffer.from((await reader.next()).value as Uint8Array).toString()).toBe('begun\n');
    sshd.cut();
    expect(await command.ended).toMatchObject({ by: 'lost' });
    await until(() => session.ended !== undefined);
    expect(ends).toEqual([{ by: 'lost', reason: expect.any(String) }]);
    expect(health).toEqual(['true disconnected']);
    expect(() => at.ssh.sessions.find(session.id, 'me')).toThrow(`no session with id ${session.id}`);
    await expect(session.exec('true', {}, limit())).rejects.toMatchObject({ data: { wire: 'TRANSPORT_ERROR' } });
    expect(at.ssh.sessions.all('me')).toEqual([]);
  });

  test('one that waits for a channel when the link goes is told so', async () => {
    await using at = remote({ connector: noAgain() });
    const session = await open(at);
    for (let n = 0; n < 10; n += 1) await session.exec('sleep 1000', {}, limit());
    const waiting = expect(session.exec('true', {}, limit())).rejects.toMatchObject({
      data: { wire: 'TRANSPORT_ERROR' },
    });
    await until(() => session.slots.waiting === 1);
    sshd.cut();
    await waiting;
  });

  test('nobody used it for long enough: it is closed, and a command keeps it open (4.7)', async () => {
    const clock = new ManualClock();
    await using at = remote({ clock, settings: { inactivityTimeoutMs: 300_000 } });
    // Those of the tests before may still be leaving.
    await until(() => logins() === 0);
    const session = await open(at);
    expect(logins()).toBeGreaterThan(0);
    const child = session.adopt({ kind: 'command', sessionEnded: async () => {} });
    // In steps, with time for an answer to each keepalive.
    const pass = async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= 20_000) {
        clock.advance(Math.min(left, 20_000));
        expect(await session.probe(limit())).toBe('healthy');
      }
    };
    await pass(299_999);
    child[Symbol.dispose]();
    expect(session.expiresAt).toBe(599_999);
    await pass(299_999);
    expect(session.ended).toBeUndefined();
    clock.advance(1);
    expect(session.ended).toEqual({ by: 'idle' });
    await until(() => logins() === 0);
    expect(() => at.ssh.sessions.find(session.id, 'me')).toThrow('no session with id');
  });

  test('the end of the engine leaves no connection behind, not even one being made', async () => {
    await until(() => sockets().length === 0);
    {
      await using at = remote({ clock: slowClock });
      const session = await open(at);
      await Promise.all(numbers.slice(0, 30).map(() => session.exec('sleep 1000', {}, limit())));
      expect(session.slots.links).toBeGreaterThan(1);
      // A connection that is being made is not yet a link.
      await until(() => sockets().length === session.slots.links);
      const making = open(at).then(
        () => 'made',
        (error: Error) => error.message,
      );
      await at[Symbol.asyncDispose]();
      expect(await making).toBe('The server is shutting down.');
    }
    expect(sockets()).toEqual([]);
  });

  test('a server that says no goodbye does not hold the end up', async () => {
    await using at = remote();
    // By the end of a command the server has split into all its processes.
    await run(await open(at), 'true');
    {
      using _ = sshd.freeze();
      const ended = at[Symbol.asyncDispose]().then(() => 'ended');
      // Two timers of one process: however late both are, the earlier one is first.
      const late = new Promise((resolve) => setTimeout(resolve, 2_000, 'late'));
      expect(await Promise.race([ended, late])).toBe('ended');
    }
    await until(() => sockets().length === 0);
  });
});

test('3,000 commands: no channel and no memory stays behind', async () => {
  await using at = remote();
  const session = await open(at);
  const round = async (count: number): Promise<void> => {
    const signal = limit(300_000);
    const worker = async (): Promise<void> => {
      while (left-- > 0) expect(await run(session, ':', signal)).toBe(':0');
    };
    let left = count;
    await Promise.all(Array.from({ length: 10 }, worker));
  };
  await round(500);
  const before = await settledHeap();
  await round(1250);
  const middle = await settledHeap();
  await round(1250);
  const after = await settledHeap();
  await until(() => session.slots.inUse === 0);
  // What one command leaves behind, in bytes. A forgotten channel is tens of thousands.
  expect(Math.min((middle - before) / 1250, (after - middle) / 1250)).toBeLessThan(200);
  expect(await run(session, 'echo still here')).toBe('still here:0');
}, 300_000);

async function settledHeap(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let times = 0; times < 4; times += 1) {
    // What is still on its way through promises holds memory.
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Connections to the server that are established, from the kernel's table. */
function sockets(): string[] {
  const port = sshd.port.toString(16).toUpperCase().padStart(4, '0');
  const established = new RegExp(`(0100007F:\\w{4}) 0100007F:${port} 01 `);
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .flatMap((line) => established.exec(line)?.[1] ?? []);
}

/** As after a login with a password: no second link. */
function noAgain() {
  const connector = sshd.connector();
  return {
    ...connector,
    connect: async (...request: Parameters<typeof connector.connect>) => {
      const { again: _, ...rest } = await connector.connect(...request);
      return rest;
    },
  };
}
