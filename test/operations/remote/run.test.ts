import { describe, expect, test } from 'vitest';
import { execCancel } from '../../../src/operations/remote/commands.ts';
import { run } from '../../../src/operations/remote/run.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { plain, Remote } from '../../support/ssh/remote.ts';
import { printed, running } from '../../support/ssh/commands.ts';
import { session, withSshd } from '../../support/ssh/login.ts';
import { nobodysPort, type Sshd, startSshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
withSshd((started) => (sshd = started), { known: true });

const remote = (): Remote => new Remote({ connector: sshd.connector(), settings: { maxRetries: 0 } });
const sessionsOf = (at: Remote): string[] => at.ssh.sessions.all('me').map(({ id }) => id);

describe('ssh_run', () => {
  test('COMPLETED: its own session ends with it (row 10)', async () => {
    await using at = remote();
    const { text, facts } = await at.ask(run, { ...sshd.login, command: 'echo up; exit 3', surplus: true });
    expect(plain(text)).toBe(
      [
        'SSH_RUN: COMPLETED',
        'SESSION_ID: <id1>',
        'COMMAND_ID: <id2>',
        'EXIT: 3',
        'DISCONNECTED: true',
        '--- stdout [<nonce>] ---',
        'up',
        '--- stderr [<nonce>] (empty) ---',
      ].join('\n'),
    );
    expect(facts).toEqual({
      tool: 'ssh_run',
      status: 'completed',
      session_id: expect.any(String),
      command_id: expect.any(String),
      disconnected: true,
      exit_code: 3,
      stdout: 'up\n',
      stderr: '',
      stdout_truncated: false,
      stderr_truncated: false,
      timed_out: false,
    });
    expect(sessionsOf(at)).toEqual([]);
  });

  test('a host met for the first time is named with its key (9.3)', async () => {
    await using own = await startSshd();
    await using at = new Remote({ connector: own.connector() });
    const input = { ...own.login, command: 'true' };
    expect(plain((await at.ask(run, input)).text)).toContain('DISCONNECTED: true\nHOST_KEY: <fingerprint> (new)\n---');
    expect((await at.ask(run, input)).text).not.toContain('HOST_KEY');
  });

  test('disconnect_after=false keeps it, and the next call reuses it and leaves it (10.14)', async () => {
    await using at = remote();
    const first = await at.run(run, { ...sshd.login, command: 'true', disconnect_after: false });
    expect(first.disconnected).toBe(false);
    expect(sessionsOf(at)).toEqual([first.session_id]);
    const { text, facts } = await at.ask(run, { ...sshd.login, command: 'true' });
    expect(facts).toMatchObject({ session_id: first.session_id, disconnected: false });
    expect(text).toContain('\nDISCONNECTED: false\n');
    expect(sessionsOf(at)).toEqual([first.session_id]);
  });

  test('only sessions of the same agent, if one is named, and of the same principal are reused (10.14)', async () => {
    await using at = remote();
    const theirs = await session(at, sshd, { agent_id: 'other' });
    const mine = await at.run(run, { ...sshd.login, command: 'true', agent_id: 'me' });
    expect(mine).toMatchObject({ disconnected: true });
    expect(mine.session_id).not.toBe(theirs);
    const stranger = await at.run(run, { ...sshd.login, command: 'true' }, { principal: 'them' });
    expect(stranger).toMatchObject({ disconnected: true });
    expect(stranger.session_id).not.toBe(theirs);
    expect((await at.run(run, { ...sshd.login, command: 'true' })).session_id).toBe(theirs);
  });

  test('TIMEOUT: the command is ended, and the session with it', async () => {
    const clock = new ManualClock();
    await using at = new Remote({ connector: sshd.connector(), clock });
    const asked = at.ask(run, { ...sshd.login, command: 'echo early; sleep 600', timeout_secs: 1 });
    await printed(at, await running(at), 'early\n');
    clock.advance(1000);
    const { text, facts } = await asked;
    expect(plain(text)).toBe(
      [
        'SSH_RUN: TIMEOUT',
        'SESSION_ID: <id1>',
        'COMMAND_ID: <id2>',
        'DISCONNECTED: true',
        '--- stdout [<nonce>] (partial) ---',
        'early',
        '--- stderr [<nonce>] (empty) ---',
      ].join('\n'),
    );
    expect(facts).toMatchObject({ status: 'timeout', timed_out: true });
    expect(sessionsOf(at)).toEqual([]);
  });

  test('CANCELLED by somebody else', async () => {
    await using at = remote();
    const waiting = at.ask(run, { ...sshd.login, command: 'sleep 600' });
    await at.run(execCancel, { command_id: await running(at) });
    const { text, facts } = await waiting;
    expect(plain(text)).toMatch(/^SSH_RUN: CANCELLED\nSESSION_ID: <id1>\nCOMMAND_ID: <id2>\nDISCONNECTED: true\n---/);
    expect(facts).toMatchObject({ status: 'cancelled', disconnected: true });
  });

  test('FAILED when the link breaks', async () => {
    await using own = await startSshd();
    await using at = new Remote({ connector: own.connector() });
    const input = { ...own.login, command: 'sleep 600' };
    const waiting = at.ask(run, input);
    await running(at);
    own.cut();
    const { text, facts } = await waiting;
    expect(text).toMatch(
      /^SSH_RUN: FAILED\n(.+\n)*ERROR: The (server closed the connection|connection broke: .+)\.\n---/,
    );
    expect(facts).toMatchObject({ status: 'failed', error: expect.any(String) });
    expect(sessionsOf(at)).toEqual([]);
  });

  test('a caller that hangs up ends neither the command nor, before that, the session', async () => {
    await using at = remote();
    const hangUp = new AbortController();
    const waiting = at.ask(
      run,
      { ...sshd.login, command: 'until [ -e "$HOME/on" ]; do sleep 0.05; done; rm "$HOME/on"' },
      {
        signal: hangUp.signal,
      },
    );
    const command_id = await running(at);
    hangUp.abort();
    expect((await waiting).facts).toMatchObject({ status: 'error' });
    expect(sessionsOf(at)).toHaveLength(1);
    await using other = remote();
    await other.run(run, { ...sshd.login, command: 'touch "$HOME/on"' });
    await expect.poll(() => sessionsOf(at), { timeout: 20_000 }).toEqual([]);
    expect(at.ssh.commands.find(command_id, 'me').status).toBe('completed');
  });

  test('what could not be started leaves no session', async () => {
    await using own = await startSshd({ config: ['PermitTTY no'] });
    await using at = new Remote({ connector: own.connector() });
    const input = { ...own.login, command: 'true', pty: true };
    const { text, facts } = await at.ask(run, { ...input, disconnect_after: false });
    expect(text).toMatch(/^SSH_RUN: ERROR\nREASON: \[CHANNEL_FAILED\] /);
    expect(facts).toMatchObject({ tool: 'ssh_run', status: 'error' });
    expect(sessionsOf(at)).toEqual([]);
  });

  test('CONNECTION_FAILED, AUTH_FAILED, INVALID_ARGUMENT', async () => {
    await using at = remote();
    const nobody = await at.ask(run, { ...sshd.login, address: `127.0.0.1:${nobodysPort}`, command: 'true' });
    expect(nobody.facts).toMatchObject({ code: 'CONNECTION_FAILED' });
    const key_path = sshd.newKey('ed25519', { authorized: false });
    expect((await at.ask(run, { ...sshd.login, key_path, command: 'true' })).facts).toMatchObject({
      code: 'AUTH_FAILED',
    });
    expect((await at.ask(run, { ...sshd.login })).facts).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect((await at.ask(run, { username: 'x', command: 'true' })).facts).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(sessionsOf(at)).toEqual([]);
  });

  test('output is cut, and a terminal given, as asked', async () => {
    await using at = remote();
    const { stdout, stdout_truncated } = await at.run(run, {
      ...sshd.login,
      command: 'tty; seq 9',
      pty: true,
      max_output_bytes: 4,
    });
    expect([stdout, stdout_truncated]).toEqual(['\n9\n', true]);
  });
});
