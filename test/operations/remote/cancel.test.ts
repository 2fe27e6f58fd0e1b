import { describe, expect, test } from 'vitest';
import { exec, execCancel, execOutput } from '../../../src/operations/remote/commands.ts';
import { list } from '../../../src/operations/remote/command-list.ts';
import { connect, disconnect } from '../../../src/operations/remote/sessions.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { plain, Remote } from '../../support/ssh/remote.ts';
import { ended, printed, started } from '../../support/ssh/commands.ts';
import { session, withSession } from '../../support/ssh/login.ts';
import { type Sshd, startSshd } from '../../support/ssh/sshd.ts';
import { relayTcp } from '../../support/tcp.ts';

let sshd: Sshd;
let at: Remote;
let session_id: string;
withSession((made) => ({ sshd, at, session_id } = made));

const cancelled = ['SSH_EXEC_CANCEL: CANCELLED', 'COMMAND_ID: <id1>'];

/** `PID` in the script prints the process's number, so that a test can tell that it got there and whether it is still there. */
async function startedWithPid(
  on: string,
  script: string,
  pty: boolean,
  { by = at, ...options }: { readonly by?: Remote; readonly timeout_secs?: number } = {},
): Promise<{ command_id: string; pid: number }> {
  const command_id = await started(
    by,
    on,
    script.replace('PID', () => 'echo pid=$$'),
    { pty, ...options },
  );
  await printed(by, command_id, '\n');
  const { stdout } = await by.run(execOutput, { command_id });
  return { command_id, pid: Number(/pid=(\d+)/.exec(stdout)?.[1]) };
}

/** Whatever was asked of the server of this session before has been done. */
async function heard(by: Remote, on: string): Promise<void> {
  expect(await by.ssh.sessions.find(on, 'me').probe(AbortSignal.timeout(20_000))).toBe('healthy');
}

function alive(pid: number): boolean {
  expect(pid).toBeGreaterThan(1);
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function gone(...pids: readonly number[]): Promise<void> {
  await expect.poll(() => pids.filter(alive), { timeout: 20_000 }).toEqual([]);
}

/** An engine for which no time passes unless told. */
function timeless(): { readonly by: Remote; readonly clock: ManualClock } {
  const clock = new ManualClock();
  return { by: new Remote({ connector: sshd.connector(), clock }), clock };
}

const deaf = "trap '' INT TERM HUP; PID; while :; do sleep 0.05; done";

describe('ssh_exec_cancel', () => {
  test('CANCELLED with the output so far; afterwards NOOP says how it ended (row 9)', async () => {
    const command_id = await started(at, session_id, 'echo last line before cancel; sleep 600');
    await printed(at, command_id, 'cancel');
    const { text, facts } = await at.ask(execCancel, { command_id });
    const blocks = [
      '--- stdout [<nonce>] (partial) ---',
      'last line before cancel',
      '--- stderr [<nonce>] (empty) ---',
    ];
    expect(plain(text)).toBe([...cancelled, ...blocks].join('\n'));
    expect(facts).toEqual({
      tool: 'ssh_exec_cancel',
      status: 'cancelled',
      command_id,
      stdout: 'last line before cancel\n',
      stderr: '',
      stdout_truncated: false,
      stderr_truncated: false,
    });
    const again = await at.ask(execCancel, { command_id });
    expect(plain(again.text)).toBe('SSH_EXEC_CANCEL: NOOP\nCOMMAND_ID: <id1>\nREASON: CANCELLED');
    expect(again.facts).toEqual({ tool: 'ssh_exec_cancel', status: 'noop', command_id, reason: 'cancelled' });
    const output = await ended(at, command_id);
    expect(plain(output.text)).toBe(['SSH_EXEC_OUTPUT: CANCELLED', 'COMMAND_ID: <id1>', ...blocks].join('\n'));
    expect(output.facts).toMatchObject({ status: 'cancelled', timed_out: false });
    expect(output.facts).not.toHaveProperty('exit_code');
  });

  test('NOOP of a command that completed', async () => {
    const command_id = await started(at, session_id, 'true');
    await ended(at, command_id);
    expect(plain((await at.ask(execCancel, { command_id })).text)).toBe(
      'SSH_EXEC_CANCEL: NOOP\nCOMMAND_ID: <id1>\nREASON: COMPLETED',
    );
  });

  test('COMMAND_NOT_FOUND', async () => {
    const command_id = '01900000-0000-7000-8000-000000000000';
    const { text } = await at.ask(execCancel, { command_id });
    expect(text.split('\n').slice(0, 2)).toEqual([
      'SSH_EXEC_CANCEL: ERROR',
      `REASON: [COMMAND_NOT_FOUND] no command with id ${command_id}`,
    ]);
  });

  test.each([false, true])('an interrupt is enough for most, and none of the two seconds (pty: %s)', async (pty) => {
    await using by = timeless().by;
    // What prints is what will sleep: a shell that is about to start it may keep the interrupt from it.
    const script = "sh -c 'PID; exec sleep 600'; echo not reached";
    const { command_id, pid } = await startedWithPid(await session(by, sshd), script, pty, { by });
    const { status, stdout } = await by.run(execCancel, { command_id });
    expect(status).toBe('cancelled');
    expect(stdout).not.toContain('not reached');
    await gone(pid);
  });

  test.each([false, true])('what ignores INT, TERM and HUP is killed after two seconds (pty: %s)', async (pty) => {
    const { by, clock } = timeless();
    await using _ = by;
    const on = await session(by, sshd);
    const { command_id, pid } = await startedWithPid(on, deaf, pty, { by });
    const cancelling = by.run(execCancel, { command_id });
    await heard(by, on);
    clock.advance(1999);
    await heard(by, on);
    expect(alive(pid)).toBe(true);
    expect((await by.run(execOutput, { command_id })).status).toBe('running');
    clock.advance(1);
    expect((await cancelling).status).toBe('cancelled');
    await gone(pid);
  });

  test('output printed in answer to the interrupt is kept', async () => {
    await using by = timeless().by;
    const script = "trap 'echo caught; exit 5' INT; PID; while :; do sleep 0.05; done";
    const { command_id } = await startedWithPid(await session(by, sshd), script, false, { by });
    const { status, stdout } = await by.run(execCancel, { command_id });
    expect([status, stdout]).toEqual(['cancelled', expect.stringMatching(/\ncaught\n$/)]);
  });

  test('a caller that hangs up stops neither the cancelling nor the command', async () => {
    const { command_id } = await startedWithPid(session_id, deaf, false);
    const hangUp = new AbortController();
    const waiting = at.ask(execOutput, { command_id, wait: true }, { signal: hangUp.signal });
    hangUp.abort();
    expect((await waiting).facts).toMatchObject({ status: 'error' });
    expect((await at.run(execOutput, { command_id })).status).toBe('running');
    const cancelling = new AbortController();
    const leaving = at.ask(execCancel, { command_id }, { signal: cancelling.signal });
    cancelling.abort();
    expect((await leaving).facts).toMatchObject({ status: 'error' });
    expect((await ended(at, command_id)).facts).toMatchObject({ status: 'cancelled' });
  });
});

describe('a server that passes no signals on', () => {
  // sshd refuses them to a session with a forced command.
  const forced = async (): Promise<string> => {
    const key = sshd.newKey('ed25519', { authorized: false });
    sshd.authorize(key, `command="eval \\"$SSH_ORIGINAL_COMMAND\\""`);
    return await session(at, sshd, { key_path: key });
  };

  test('with a terminal the command goes with its channel', async () => {
    const { command_id, pid } = await startedWithPid(
      await forced(),
      "trap '' INT; PID; while :; do sleep 0.05; done",
      true,
    );
    expect((await at.run(execCancel, { command_id })).status).toBe('cancelled');
    await gone(pid);
  });

  test('without one we let go of it, and it lives until it writes', async () => {
    const script = 'PID; until [ -e "$HOME/go-on" ]; do sleep 0.05; done; echo x; echo y; rm "$HOME/go-on"';
    const { command_id, pid } = await startedWithPid(await forced(), script, false);
    expect((await at.run(execCancel, { command_id })).status).toBe('cancelled');
    expect(alive(pid)).toBe(true);
    await ended(at, await started(at, session_id, 'touch "$HOME/go-on"'));
    await gone(pid);
  });
});

describe('timeout (7)', () => {
  test.each([false, true])('what ignores TERM is killed two seconds later (pty: %s)', async (pty) => {
    const { by, clock } = timeless();
    await using _ = by;
    const on = await session(by, sshd);
    const { command_id, pid } = await startedWithPid(on, deaf, pty, { by, timeout_secs: 1 });
    clock.advance(2999);
    await heard(by, on);
    expect(alive(pid)).toBe(true);
    expect((await by.run(execOutput, { command_id })).status).toBe('running');
    clock.advance(1);
    expect((await ended(by, command_id)).facts).toMatchObject({
      status: 'timeout',
      timeout_kind: 'command',
      stdout: expect.stringContaining('pid='),
    });
    await gone(pid);
    expect(plain((await by.ask(execCancel, { command_id })).text)).toContain('REASON: TIMEOUT');
  });

  test('the default comes from the settings', async () => {
    await using quick = new Remote({ connector: sshd.connector(), settings: { commandTimeoutMs: 200 } });
    const command_id = await started(quick, await session(quick, sshd), 'sleep 600');
    expect((await ended(quick, command_id)).facts).toMatchObject({ status: 'timeout' });
  });
});

describe('the end of a session (9.4)', () => {
  test('disconnected: its commands are cancelled, and can be read for a while', async () => {
    const mine = await session(at, sshd);
    const { command_id, pid } = await startedWithPid(mine, 'PID; sleep 600', false);
    const rough = await startedWithPid(mine, deaf, false);
    expect(await at.run(disconnect, { session_id: mine })).toMatchObject({ commands_cancelled: 2 });
    expect((await at.run(execOutput, { command_id })).status).toBe('cancelled');
    expect((await at.run(execOutput, { command_id: rough.command_id })).status).toBe('cancelled');
    await gone(pid, rough.pid);
  });

  test('lost: FAILED with the reason, the output stays, the session is not found', async () => {
    await using own = await startSshd();
    await using alone = new Remote({ connector: own.connector() });
    const on = await session(alone, own);
    const command_id = await started(alone, on, 'echo before; sleep 600');
    await printed(alone, command_id, 'before');
    own.cut();
    const { text, facts } = await ended(alone, command_id);
    expect(plain(text)).toMatch(
      /^SSH_EXEC_OUTPUT: FAILED\nCOMMAND_ID: <id1>\nERROR: The (server closed the connection|connection broke: .+)\.\n--- stdout \[<nonce>\] \(partial\) ---\nbefore\n--- stderr \[<nonce>\] \(empty\) ---$/,
    );
    expect(facts).toMatchObject({ status: 'failed', error: expect.any(String), timed_out: false });
    expect((await alone.ask(exec, { session_id: on, command: 'true' })).facts).toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    expect((await alone.run(list, { status: 'failed' })).commands).toHaveLength(1);
  });
});

describe('what a server refuses', () => {
  test('TRANSPORT_ERROR: the link breaks while the channel is being opened', async () => {
    await using way = await relayTcp(() => sshd.port);
    await using alone = new Remote({ connector: sshd.connector() });
    const { session_id: on = '' } = await alone.run(connect, { ...sshd.login, address: way.address });
    await ended(alone, await started(alone, on, 'true'));
    const asked = way.hold();
    const starting = alone.ask(exec, { session_id: on, command: 'true' });
    await asked;
    way.reset();
    expect((await starting).facts).toMatchObject({ status: 'error', code: 'TRANSPORT_ERROR', retryable: true });
    expect((await alone.run(list, {})).total).toBe(1);
  });

  test('CHANNEL_FAILED: no terminal is given', async () => {
    await using own = await startSshd({ config: ['PermitTTY no'] });
    await using alone = new Remote({ connector: own.connector() });
    const { text, facts } = await alone.ask(exec, {
      session_id: await session(alone, own),
      command: 'true',
      pty: true,
    });
    expect(text).toMatch(/^SSH_EXEC: ERROR\nREASON: \[CHANNEL_FAILED\] /);
    expect(facts).toMatchObject({ code: 'CHANNEL_FAILED', category: 'TRANSPORT' });
  });
});

test('two principals: neither reads, lists nor cancels what the other runs (10.30)', async () => {
  const command_id = await started(at, session_id, 'sleep 600');
  const them = { principal: 'them' };
  for (const op of [execOutput, execCancel]) {
    const { text, facts } = await at.ask(op, { command_id }, them);
    expect(facts).toMatchObject({ code: 'COMMAND_NOT_FOUND' });
    expect(text).not.toContain('closest');
  }
  expect((await at.run(list, {}, them)).total).toBe(0);
  expect((await at.ask(exec, { session_id, command: 'true' }, them)).facts).toMatchObject({
    code: 'SESSION_NOT_FOUND',
  });
  expect((await at.run(execCancel, { command_id })).status).toBe('cancelled');
});
