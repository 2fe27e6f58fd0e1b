import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect as dial, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connect, sessions } from '../../../src/operations/remote/sessions.ts';
import type { SshSurroundings } from '../../../src/transports/ssh/sessions/connect.ts';
import type { SshSettings } from '../../../src/transports/ssh/settings.ts';
import { Remote } from '../../support/ssh/remote.ts';
import { asAlice, withSshd } from '../../support/ssh/login.ts';
import { isRoot, nobodysPort, type Sshd, startSshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
withSshd((started) => (sshd = started), { known: true, password: isRoot });

const remote = (surroundings: Partial<SshSurroundings> = {}, settings: Partial<SshSettings> = {}): Remote =>
  new Remote({ connector: sshd.connector(surroundings), settings: { retryDelayMs: 1, ...settings } });

const plain = (text: string): string => asAlice(text, sshd);

const failed = (code: string, reason: string, detail: string): string =>
  `SSH_CONNECT: ERROR\nREASON: [${code}] ${reason}\nDETAIL: ${detail}`;

describe('what is wrong with the arguments', () => {
  test.each([
    [{}, 'address: is required'],
    [{ address: 'host' }, 'username: is required'],
    [{ address: '', username: 'x' }, 'address: must not be empty'],
    [{ address: 'host:0', username: 'x' }, 'Not an address: "0" is not a port from 1 to 65535.'],
    [{ address: 'host:65536', username: 'x' }, 'Not an address: "65536" is not a port from 1 to 65535.'],
    [{ address: ':22', username: 'x' }, 'Not an address: the host is empty.'],
    [{ address: 'host', username: 'x', reuse: 'AUTO' }, 'reuse: must be one of suggest, auto, force_new'],
    [{ address: 'host', username: 'x', timeout_secs: 0 }, 'timeout_secs: must be at least 1'],
    [{ session_id: '../x' }, 'session_id: must be letters, digits, - or _'],
  ])('INVALID_ARGUMENT %j', async (input, reason) => {
    await using at = remote();
    const { text, facts } = await at.ask(connect, input);
    expect(text.split('\n')[1]).toBe(`REASON: [INVALID_ARGUMENT] ${reason}`);
    expect(facts).toMatchObject({
      tool: 'ssh_connect',
      status: 'error',
      code: 'INVALID_ARGUMENT',
      reason,
      category: 'STATE',
      retryable: false,
    });
  });

  test('a dead session_id alone is not found; with an address it is replaced (9.2)', async () => {
    await using at = remote();
    const { session_id = '' } = await at.run(connect, sshd.login);
    // By now the server has split into all its processes.
    expect((await at.ask(sessions, {})).facts).toMatchObject({ count: 1 });
    {
      using _ = sshd.freeze();
      const { text } = await at.ask(connect, { ...sshd.login, session_id });
      expect(plain(text).split('\n').slice(0, -1).join('\n')).toBe(
        [
          'SSH_CONNECT: OK',
          'SESSION_ID: <id1>',
          'HOST: alice@host:22',
          'RETRY: 0',
          'PERSISTENT: false',
          'EXPIRES_AT: <time>+00:00',
          'REPLACED: 1',
        ].join('\n'),
      );
    }
    expect((await at.ask(connect, { session_id })).facts).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect((await at.ask(sessions, {})).facts).toMatchObject({ count: 1 });
  });

  test('MAX_SESSIONS_EXCEEDED', async () => {
    await using at = remote({}, { maxSessions: 1 });
    await at.run(connect, sshd.login);
    const { text, facts } = await at.ask(connect, { ...sshd.login, reuse: 'force_new' });
    expect(text).toBe(
      failed('MAX_SESSIONS_EXCEEDED', 'All 1 sessions are in use', 'Disconnect a session you no longer need; limit=1'),
    );
    expect(facts).toMatchObject({ category: 'POLICY', retryable: true });
  });
});

describe('what is wrong with the way there', () => {
  test('CONNECTION_FAILED after all attempts (10.22)', async () => {
    await using at = remote();
    const address = `127.0.0.1:${nobodysPort}`;
    const { text, facts } = await at.ask(connect, { ...sshd.login, address, max_retries: 2 });
    expect(text).toBe(
      failed(
        'CONNECTION_FAILED',
        `Cannot connect to ${address}: connection refused (3 attempts).`,
        'Check address and port, and that the host is up; then try again',
      ),
    );
    expect(facts).toMatchObject({ category: 'TRANSPORT', retryable: true });
  });

  test('CONNECTION_TIMEOUT when every attempt ended at its deadline (10.22)', async () => {
    await using silent = await listen(() => {});
    await using at = remote();
    const { text } = await at.ask(connect, { ...sshd.login, address: silent.address, timeout_secs: 1, max_retries: 0 });
    expect(text).toBe(
      failed(
        'CONNECTION_TIMEOUT',
        `Cannot connect to ${silent.address}: no answer in time (one attempt).`,
        'Check the address and firewalls, or raise timeout_secs',
      ),
    );
  });

  test("the SSH config's ConnectTimeout counts where the caller names none, and both before the operator's", async () => {
    await using silent = await listen(() => {});
    const [host, port] = silent.address.split(':');
    const home = join(sshd.folder, 'impatient');
    mkdirSync(join(home, '.ssh'), { recursive: true });
    const lines = ['Host slow', ` HostName ${host}`, ` Port ${port}`, ' ConnectTimeout 1'];
    writeFileSync(join(home, '.ssh', 'config'), lines.join('\n'), { mode: 0o600 });
    await using at = remote({ home }, { connectTimeoutMs: 60_000 });
    const took = async (more: object): Promise<number> => {
      const start = performance.now();
      const { facts } = await at.ask(connect, { address: 'slow', username: 'x', max_retries: 0, ...more });
      expect(facts).toMatchObject({ code: 'CONNECTION_TIMEOUT' });
      return Math.round((performance.now() - start) / 1000);
    };
    // Not the operator's minute, and no matter how busy the machine is.
    expect(await took({})).toBeLessThan(30);
    expect(await took({ timeout_secs: 2 })).toBeGreaterThanOrEqual(2);
  }, 90_000);

  test('RETRY counts the extra attempts that were needed', async () => {
    let calls = 0;
    await using shaky = await listen((socket) => {
      calls += 1;
      if (calls <= 2) return socket.destroy();
      const there = dial(sshd.port, sshd.host);
      socket.pipe(there).pipe(socket);
      there.on('error', () => socket.destroy());
      socket.on('error', () => there.destroy());
      socket.on('close', () => there.destroy());
    });
    await using at = remote();
    const { text } = await at.ask(connect, { ...sshd.login, address: shaky.address });
    expect(text).toContain('\nRETRY: 2\n');
  });

  test('a caller that hangs up stops the attempts and leaves no session', async () => {
    await using silent = await listen(() => {});
    await using at = remote();
    const stop = new AbortController();
    const asked = at.ask(connect, { ...sshd.login, address: silent.address }, { signal: stop.signal });
    await silent.accepted;
    stop.abort();
    expect((await asked).facts).toMatchObject({ status: 'error' });
    expect(at.ssh.sessions.all('me')).toEqual([]);
  });
});

describe('what is wrong with the login', () => {
  test('AUTH_FAILED', async () => {
    await using at = remote();
    const key_path = sshd.newKey('ed25519', { authorized: false });
    const { facts } = await at.ask(connect, { ...sshd.login, key_path, password: 'not-the-password' });
    expect(facts).toMatchObject({ code: 'AUTH_FAILED', category: 'AUTH', retryable: false });
    expect(JSON.stringify(facts)).not.toContain('not-the-password');
    expect(facts['detail']).toBe(
      'Check username, key_path and agent; leave password out, and the person is asked for it',
    );
  });

  test('AUTH_KEY_PARSE: encrypted, readable by others, not there', async () => {
    await using at = remote();
    const encrypted = sshd.newKey('ed25519', { passphrase: 'secret words' });
    const open = sshd.newKey('ed25519');
    chmodSync(open, 0o644);
    for (const key_path of [encrypted, open, join(sshd.folder, 'nothing')]) {
      const { facts } = await at.ask(connect, { ...sshd.login, key_path });
      expect(facts).toMatchObject({ code: 'AUTH_KEY_PARSE', category: 'AUTH', retryable: false });
    }
  });

  test.runIf(isRoot)('a password nobody gave is asked of the person, and never told', async () => {
    await using at = remote();
    const input = { address: sshd.address, username: sshd.user };
    const { text, facts } = await at.ask(connect, input);
    const [first, reason, detail] = plain(text).split('\n');
    expect(first).toBe('SSH_CONNECT: ERROR');
    expect(reason).toBe("REASON: [AUTH_FAILED] Only the person can answer this: “alice@host's password:”.");
    expect(detail).toMatch(/^DETAIL: .*`fairlead answer q_\w+`/);
    expect(facts).toMatchObject({ code: 'AUTH_FAILED', retryable: true, question: { kind: 'password' } });
    const [question] = at.engine.questions.list();
    at.engine.questions.answer(question?.id ?? '', sshd.password);
    const answer = await at.ask(connect, input);
    expect(answer.facts).toMatchObject({ status: 'ok' });
    expect(JSON.stringify([answer, at.engine.audit.entries()])).not.toContain(sshd.password);
  });
});

describe('what is wrong with the host (9.3)', () => {
  const home = (name: string, line = ''): Partial<SshSurroundings> => {
    const folder = join(sshd.folder, name);
    mkdirSync(join(folder, '.ssh'), { recursive: true });
    if (line !== '') writeFileSync(join(folder, '.ssh', 'known_hosts'), `${line}\n`);
    return { home: folder, knownHostsFile: join(folder, 'known_hosts') };
  };

  test('HOST_KEY_UNKNOWN when strict, with the fingerprint', async () => {
    await using at = remote({ ...home('strict'), hostKeyPolicy: 'strict' });
    const { text, facts } = await at.ask(connect, sshd.login);
    expect(facts).toMatchObject({ code: 'HOST_KEY_UNKNOWN', category: 'AUTH', retryable: false });
    expect(text.split('\n')[2]).toMatch(/SHA256:[A-Za-z0-9+/]{43}/);
  });

  test('HOST_KEY_MISMATCH when it changed', async () => {
    await using other = await startSshd();
    await using at = remote(home('changed', other.knownHostsLine('ed25519', `[127.0.0.1]:${sshd.port}`)));
    const { facts } = await at.ask(connect, { ...sshd.login, max_retries: 3 });
    expect(facts).toMatchObject({ code: 'HOST_KEY_MISMATCH', category: 'AUTH', retryable: false });
  });

  test('WARN on every connect when nothing is checked', async () => {
    await using at = remote({ ...home('off'), hostKeyPolicy: 'off' });
    for (let times = 0; times < 2; times += 1) {
      const { text } = await at.ask(connect, { ...sshd.login, reuse: 'force_new' });
      const lines = text.split('\n');
      expect(lines.at(-2)).toMatch(/^WARN: \S/);
      expect(lines.at(-1)).toMatch(/^NEXT: ssh_exec/);
      expect(text).not.toContain('HOST_KEY:');
    }
  });
});

async function listen(
  accept: (socket: Socket) => unknown,
): Promise<AsyncDisposable & { readonly address: string; readonly accepted: Promise<unknown> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    accept(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    address: `127.0.0.1:${port}`,
    accepted: once(server, 'connection'),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
