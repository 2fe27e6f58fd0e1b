import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connect } from '../../../src/operations/remote/sessions.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { Remote, type RemoteOptions } from '../../support/ssh/remote.ts';
import { asAlice, withSshd } from '../../support/ssh/login.ts';
import type { Sshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
withSshd((started) => (sshd = started), { known: true });

const remote = (options: Partial<RemoteOptions> = {}): Remote =>
  new Remote({ connector: sshd.connector(), settings: { retryDelayMs: 10 }, ...options });

/** The text with ids, times and the names of this server replaced. */
const plain = (text: string): string => asAlice(text, sshd);

const connected = (status = 'OK', ...lines: string[]): string =>
  [
    `SSH_CONNECT: ${status}`,
    'SESSION_ID: <id1>',
    'HOST: alice@host:22',
    ...lines,
    'NEXT: ssh_exec(session_id=<id1>, command=...) | ssh_shell_open(session_id=<id1>) | ssh_disconnect(session_id=<id1>)',
  ].join('\n');

describe('ssh_connect', () => {
  test('OK: a new host, then a known one (9.3), an agent, persistence', async () => {
    const home = join(sshd.folder, 'fresh');
    mkdirSync(home);
    const connector = sshd.connector({ home, knownHostsFile: join(home, 'known_hosts') });
    await using at = remote({ connector, clock: new ManualClock(Date.UTC(2026, 0, 2, 3, 4, 5)) });
    const fresh = await at.ask(connect, { ...sshd.login, agent_id: 'claude', name: 'db', surplus: 1 });
    expect(plain(fresh.text)).toBe(
      connected(
        'OK',
        'AGENT_ID: claude',
        'RETRY: 0',
        'PERSISTENT: false',
        'EXPIRES_AT: <time>+00:00',
        'HOST_KEY: <fingerprint> (new)',
      ),
    );
    const session_id = fresh.facts['session_id'] as string;
    expect(fresh.facts).toEqual({
      tool: 'ssh_connect',
      status: 'ok',
      session_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      host: '127.0.0.1',
      port: sshd.port,
      username: sshd.user,
      agent_id: 'claude',
      name: 'db',
      retry: 0,
      compression_enabled: false,
      persistent: false,
      // In five minutes.
      expires_at: '2026-01-02T03:09:05+00:00',
      host_key: { fingerprint: expect.stringMatching(/^SHA256:/), state: 'new' },
      next: `ssh_exec(session_id=${session_id}, command=...) | ssh_shell_open(session_id=${session_id}) | ssh_disconnect(session_id=${session_id})`,
    });
    const known = await at.ask(connect, { ...sshd.login, reuse: 'force_new', persistent: true });
    expect(plain(known.text)).toBe(connected('OK', 'RETRY: 0', 'PERSISTENT: true'));
    expect(known.facts).not.toHaveProperty('expires_at');
  });

  test('without an idle timeout there is no EXPIRES_AT (9.4)', async () => {
    await using at = remote({ settings: { inactivityTimeoutMs: 0 } });
    const { text } = await at.ask(connect, sshd.login);
    expect(plain(text)).toBe(connected('OK', 'RETRY: 0', 'PERSISTENT: false'));
  });

  test('REUSED: by policy, by id, and the id alone', async () => {
    await using at = remote();
    const { session_id } = await at.run(connect, { ...sshd.login, agent_id: 'claude' });
    for (const input of [
      { ...sshd.login, reuse: 'auto' },
      { session_id },
      { ...sshd.login, session_id, reuse: 'force_new' },
    ]) {
      const { text, facts } = await at.ask(connect, input);
      expect(plain(text)).toBe(connected('REUSED', 'AGENT_ID: claude'));
      expect(facts['session_id']).toBe(session_id);
      expect(facts).toEqual({
        tool: 'ssh_connect',
        status: 'reused',
        session_id,
        host: '127.0.0.1',
        port: sshd.port,
        username: sshd.user,
        agent_id: 'claude',
        compression_enabled: false,
        next: expect.any(String),
      });
    }
  });

  test('SUGGESTED: one match', async () => {
    await using at = remote();
    const { session_id } = await at.run(connect, { ...sshd.login, agent_id: 'claude', name: 'prod-db' });
    const { text, facts } = await at.ask(connect, sshd.login);
    expect(plain(text)).toBe(
      [
        'SSH_CONNECT: SUGGESTED',
        'EXISTING_SESSION_ID: <id1>',
        'HOST: alice@host:22',
        'AGENT_ID: claude',
        'NAME: prod-db',
        'CONNECTED_AT: <time>Z',
        'HEALTHY: true',
        'HINT: use existing SESSION_ID, or retry with reuse="force_new"',
        'NEXT: ssh_connect(session_id=<id1>) | ssh_connect(reuse="force_new")',
      ].join('\n'),
    );
    expect(facts).toMatchObject({
      status: 'suggested',
      session_id,
      count: 1,
      matches: [{ session_id, agent_id: 'claude', name: 'prod-db', healthy: true, compression_enabled: false }],
    });
  });

  test('SUGGESTED: several, the own agent first, then the newest; more than five of one agent are hinted at', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    await using at = remote({ clock });
    const made = [];
    for (const more of [{ agent_id: 'other' }, { agent_id: 'claude', name: 'a' }, { compress: false }, {}]) {
      made.push((await at.run(connect, { ...sshd.login, ...more, reuse: 'force_new' })).session_id);
      // Newest is a matter of milliseconds.
      clock.advance(1);
    }
    const { text, facts } = await at.ask(connect, { ...sshd.login, agent_id: 'claude' });
    expect(plain(text)).toBe(
      [
        'SSH_CONNECT: SUGGESTED',
        'MATCHES: 4',
        '- <id1> alice@host:22 [agent: claude, name: a, connected: <time>Z, healthy]',
        '- <id2> alice@host:22 [connected: <time>Z, healthy]',
        '- <id3> alice@host:22 [connected: <time>Z, compression: off, healthy]',
        '- <id4> alice@host:22 [agent: other, connected: <time>Z, healthy]',
        'HINT: pick an existing SESSION_ID, or retry with reuse="force_new"',
        'NEXT: ssh_connect(session_id=<existing>) | ssh_connect(reuse="force_new")',
      ].join('\n'),
    );
    const order = (facts['matches'] as { session_id: string }[]).map(({ session_id }) => session_id);
    expect(order).toEqual([made[1], made[3], made[2], made[0]]);
    for (let more = 0; more < 5; more += 1)
      await at.run(connect, { ...sshd.login, agent_id: 'claude', reuse: 'force_new' });
    const leaking = await at.ask(connect, sshd.login);
    expect(leaking.text.split('\n').slice(-3)).toEqual([
      'HINT: pick an existing SESSION_ID, or retry with reuse="force_new"',
      "HINT: agent 'claude' owns 6 sessions; consider ssh_disconnect_agent to bulk-cleanup",
      'NEXT: ssh_connect(session_id=<existing>) | ssh_connect(reuse="force_new")',
    ]);
  });

  test('names that lead to the same login are one place; another way to the same address is another place', async () => {
    const home = join(sshd.folder, 'configured');
    mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
    const there = ['HostName 127.0.0.1', `Port ${sshd.port}`, `User ${sshd.user}`, `IdentityFile ${sshd.keyPath}`];
    const block = (name: string, ...lines: string[]): string => [`Host ${name}`, ...there, ...lines, ''].join('\n');
    const config = [block('direct'), block('behind', 'ProxyJump direct')].join('\n');
    writeFileSync(join(home, '.ssh', 'config'), config, { mode: 0o600 });
    await using at = remote({ connector: sshd.connector({ home }) });
    const auto = { username: sshd.user, reuse: 'auto' } as const;
    const { session_id } = await at.run(connect, { ...auto, address: 'direct' });
    for (const address of [sshd.address, `direct:${sshd.port}`]) {
      expect(await at.run(connect, { ...auto, address })).toMatchObject({ status: 'reused', session_id });
    }
    const behind = await at.run(connect, { ...auto, address: 'behind' });
    expect(behind).toMatchObject({ status: 'ok', host: '127.0.0.1', port: sshd.port });
    expect(await at.run(connect, { ...auto, address: 'behind' })).toMatchObject({
      status: 'reused',
      session_id: behind.session_id,
    });
  });

  test('two at once with auto share one session', async () => {
    await using at = remote();
    const both = await Promise.all([1, 2].map(() => at.run(connect, { ...sshd.login, reuse: 'auto' })));
    expect(both.map(({ status }) => status).toSorted()).toEqual(['ok', 'reused']);
    expect(both[0]?.session_id).toBe(both[1]?.session_id);
  });
});
