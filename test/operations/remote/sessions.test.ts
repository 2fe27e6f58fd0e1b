import { describe, expect, test } from 'vitest';
import {
  connect,
  disconnect,
  disconnectAgent,
  disconnectMany,
  sessions,
} from '../../../src/operations/remote/sessions.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { Remote } from '../../support/ssh/remote.ts';
import { asAlice, withSshd } from '../../support/ssh/login.ts';
import { type Sshd, startSshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
withSshd((started) => (sshd = started), { known: true });

const remote = (clock?: ManualClock): Remote =>
  new Remote({ connector: sshd.connector(), settings: { retryDelayMs: 10 }, ...(clock && { clock }) });

/** The text with ids, times and the names of this server replaced. */
const plain = (text: string): string => asAlice(text, sshd);

describe('ssh_disconnect', () => {
  test('OK with the counts of what it took along; then the id is not found, with closest matches', async () => {
    await using at = remote();
    const { session_id = '' } = await at.run(connect, sshd.login);
    const { session_id: other = '' } = await at.run(connect, { ...sshd.login, reuse: 'force_new' });
    const session = at.ssh.sessions.find(session_id, 'me');
    const ends: unknown[] = [];
    for (const kind of ['command', 'command', 'shell', 'transfer', 'forward', 'rsync'] as const) {
      session.adopt({ kind, sessionEnded: async (end) => void ends.push(end) });
    }
    const { text, facts } = await at.ask(disconnect, { session_id });
    expect(text).toBe(`SSH_DISCONNECT: OK\nSESSION_ID: ${session_id}`);
    expect(facts).toEqual({
      tool: 'ssh_disconnect',
      status: 'ok',
      session_id,
      commands_cancelled: 2,
      shells_closed: 1,
      transfers_aborted: 1,
      forwards_closed: 1,
      rsyncs_cancelled: 1,
    });
    expect(ends).toEqual(Array(6).fill({ by: 'disconnect' }));
    const again = await at.ask(disconnect, { session_id });
    expect(again.text).toBe(
      [
        'SSH_DISCONNECT: ERROR',
        `REASON: [SESSION_NOT_FOUND] no session with id ${session_id}`,
        `DETAIL: List sessions with ssh_sessions or open one with ssh_connect; ${session_id}; closest matches: ${other}`,
      ].join('\n'),
    );
    expect(again.facts).toMatchObject({ code: 'SESSION_NOT_FOUND', category: 'RESOURCE', retryable: false });
  });

  test('an id that cannot be one is an argument fault', async () => {
    await using at = remote();
    const { text } = await at.ask(disconnect, { session_id: 'a b' });
    expect(text).toBe(
      [
        'SSH_DISCONNECT: ERROR',
        'REASON: [INVALID_ARGUMENT] session_id: must be letters, digits, - or _',
        'DETAIL: Correct the argument and call again',
      ].join('\n'),
    );
  });
});

describe('ssh_sessions', () => {
  test('none, several, by agent, and no more than asked for', async () => {
    await using at = remote(new ManualClock());
    expect(await at.ask(sessions, {})).toEqual({
      text: 'SSH_SESSIONS: OK\nCOUNT: 0',
      facts: { tool: 'ssh_sessions', status: 'ok', sessions: [], count: 0, total: 0, warnings: [] },
    });
    await at.run(connect, { ...sshd.login, reuse: 'force_new' });
    await at.run(connect, { ...sshd.login, reuse: 'force_new', agent_id: 'claude', name: 'stage' });
    const { text, facts } = await at.ask(sessions, {});
    expect(plain(text)).toBe(
      [
        'SSH_SESSIONS: OK',
        'COUNT: 2',
        '- <id1> alice@host:22 [healthy]',
        '- <id2> alice@host:22 [agent: claude, name: stage, healthy]',
        'NEXT: ssh_disconnect_agent(agent_id=claude) | ssh_disconnect(session_id=<id1>)',
      ].join('\n'),
    );
    expect(facts).toMatchObject({ count: 2, total: 2, warnings: [], sessions: [{ healthy: true }, { name: 'stage' }] });
    const one = await at.ask(sessions, { max_items: 1 });
    expect((await at.ask(sessions, { max_items: 0 })).text).toBe(one.text);
    expect(plain(one.text)).toBe(
      [
        'SSH_SESSIONS: OK',
        'COUNT: 1 (showing 1 of 2)',
        '- <id1> alice@host:22 [healthy]',
        'NEXT: ssh_disconnect(session_id=<id1>)',
      ].join('\n'),
    );
    const mine = await at.ask(sessions, { agent_id: 'claude' });
    expect(plain(mine.text)).toBe(
      [
        'SSH_SESSIONS: OK',
        'COUNT: 1',
        '- <id1> alice@host:22 [agent: claude, name: stage, healthy]',
        'NEXT: ssh_disconnect_agent(agent_id=claude) | ssh_disconnect(session_id=<id1>)',
      ].join('\n'),
    );
    expect(mine.facts).toMatchObject({ agent_id_filter: 'claude', count: 1, total: 1 });
    for (let more = 0; more < 5; more += 1)
      await at.run(connect, { ...sshd.login, agent_id: 'claude', reuse: 'force_new' });
    const many = await at.ask(sessions, { max_items: 1, agent_id: 'claude' });
    expect(many.text).toContain(
      "\nHINT: agent 'claude' owns 6 sessions; consider ssh_disconnect_agent to bulk-cleanup\nNEXT: ",
    );
  });

  test('a server that gives no channel is healthy while it answers; one that runs nothing is not (spec 7)', async () => {
    await using none = await startSshd({ config: ['MaxSessions 0'] });
    await using stuck = await startSshd({ config: ['ForceCommand sleep 1000'] });
    await using at = remote();
    const without = await at.run(connect, none.login);
    const still = await at.run(connect, stuck.login);
    const { text, facts } = await at.ask(sessions, {});
    expect(text.split('\n').slice(1, 4)).toEqual([
      'COUNT: 2',
      `- ${without.session_id} ${none.user}@${none.address} [healthy]`,
      `- ${still.session_id} ${stuck.user}@${stuck.address} [unhealthy]`,
    ]);
    expect(facts).toMatchObject({ sessions: [{ healthy: true }, { healthy: false }] });
    const again = await at.ask(connect, { session_id: still.session_id });
    expect(again.text).toContain('SSH_CONNECT: REUSED\n');
    expect(again.text).toContain('\nWARN: the host answers, but ran no command within 5 s\nNEXT: ');
  }, 60_000);

  test('dead ones are removed before counting (row 3)', async () => {
    await using other = await startSshd();
    await using at = remote();
    await at.run(connect, sshd.login);
    await at.run(connect, other.login);
    // By now the server has split into all its processes.
    expect((await at.ask(sessions, {})).facts).toMatchObject({ count: 2, total: 2 });
    using _ = other.freeze();
    expect((await at.ask(sessions, {})).facts).toMatchObject({ count: 1, total: 1 });
  });

  test.each(['x\nNEXT: evil', 'x\u202e', 'x\u200b'])(
    'the label %j cannot be told from another: refused',
    async (label) => {
      await using at = remote();
      for (const input of [{ agent_id: label }, { name: label }]) {
        const { text, facts } = await at.ask(connect, { ...sshd.login, ...input });
        expect(facts).toMatchObject({ status: 'error', code: 'INVALID_ARGUMENT' });
        expect(text).toContain(`${Object.keys(input)[0]}: contains control or invisible characters`);
      }
      expect(at.ssh.sessions.all('me')).toEqual([]);
    },
  );
});

describe('in bulk', () => {
  test('ssh_disconnect_agent ends the sessions of one agent', async () => {
    await using at = remote();
    for (const agent_id of ['a', 'a', 'b']) await at.run(connect, { ...sshd.login, agent_id, reuse: 'force_new' });
    const [first] = at.ssh.sessions.all('me');
    first?.adopt({ kind: 'command', sessionEnded: async () => {} });
    expect(await at.ask(disconnectAgent, { agent_id: 'a' })).toEqual({
      text: 'SSH_DISCONNECT_AGENT: OK\nAGENT_ID: a\nSESSIONS: 2\nCOMMANDS: 1',
      facts: {
        tool: 'ssh_disconnect_agent',
        status: 'ok',
        agent_id: 'a',
        sessions_closed: 2,
        commands_cancelled: 1,
        shells_closed: 0,
        transfers_aborted: 0,
      },
    });
    expect(at.ssh.sessions.all('me').map(({ agentId }) => agentId)).toEqual(['b']);
    const { text } = await at.ask(disconnectAgent, { agent_id: 'nobody' });
    expect(text).toBe('SSH_DISCONNECT_AGENT: OK\nAGENT_ID: nobody\nSESSIONS: 0\nCOMMANDS: 0');
  });

  test('ssh_disconnect_many keeps the order and reports each; an id that comes twice is not found the second time', async () => {
    await using at = remote();
    const { session_id: a = '' } = await at.run(connect, sshd.login);
    const { session_id: b = '' } = await at.run(connect, { ...sshd.login, reuse: 'force_new' });
    const { text, facts } = await at.ask(disconnectMany, { session_ids: [b, 'gone', a, b] });
    expect(text).toBe(
      [
        'SSH_DISCONNECT_MANY: OK',
        'DISCONNECTED: 2',
        'FAILED: 2',
        `- ${b}: ok`,
        '- gone: error [SESSION_NOT_FOUND] no session with id gone',
        `- ${a}: ok`,
        `- ${b}: error [SESSION_NOT_FOUND] no session with id ${b}`,
      ].join('\n'),
    );
    expect(facts).toEqual({
      tool: 'ssh_disconnect_many',
      status: 'ok',
      disconnected: 2,
      failed: 2,
      results: [
        { session_id: b, status: 'ok' },
        { session_id: 'gone', status: 'error', code: 'SESSION_NOT_FOUND', reason: 'no session with id gone' },
        { session_id: a, status: 'ok' },
        { session_id: b, status: 'error', code: 'SESSION_NOT_FOUND', reason: `no session with id ${b}` },
      ],
    });
    for (const session_ids of [[], Array(65).fill('x')]) {
      const refused = await at.ask(disconnectMany, { session_ids });
      expect(refused.facts).toMatchObject({ status: 'error', code: 'INVALID_ARGUMENT' });
    }
  });
});

test('two principals never see each other (10.30)', async () => {
  await using at = remote();
  const { session_id = '' } = await at.run(connect, { ...sshd.login, agent_id: 'x' });
  const other = { principal: 'other' };
  expect((await at.ask(sessions, {}, other)).facts).toMatchObject({ count: 0, total: 0 });
  expect((await at.ask(connect, { session_id }, other)).text).toBe(
    [
      'SSH_CONNECT: ERROR',
      `REASON: [SESSION_NOT_FOUND] no session with id ${session_id}`,
      `DETAIL: List sessions with ssh_sessions or open one with ssh_connect; ${session_id}`,
    ].join('\n'),
  );
  expect((await at.ask(disconnect, { session_id }, other)).facts).toMatchObject({ code: 'SESSION_NOT_FOUND' });
  expect((await at.ask(disconnectAgent, { agent_id: 'x' }, other)).facts).toMatchObject({ sessions_closed: 0 });
  expect((await at.ask(disconnectMany, { session_ids: [session_id] }, other)).facts).toMatchObject({ failed: 1 });
  expect((await at.ask(connect, { ...sshd.login, reuse: 'auto' }, other)).facts).toMatchObject({ status: 'ok' });
  expect((await at.ask(sessions, {})).facts).toMatchObject({ count: 1 });
});
