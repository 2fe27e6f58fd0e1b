import { describe, expect, test } from 'vitest';
import { exec, execCancel, execOutput } from '../../../src/operations/remote/commands.ts';
import { disconnect } from '../../../src/operations/remote/sessions.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { Remote } from '../../support/ssh/remote.ts';
import { slowClock } from '../../support/clocks/slow.ts';
import { started } from '../../support/ssh/commands.ts';
import { session, withSshd } from '../../support/ssh/login.ts';
import { type Sshd, startSshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
withSshd((made) => (sshd = made), { config: ['MaxSessions 10'] });

const hundred = Array.from({ length: 100 }, (_, at) => at);

const limit = () => ({ signal: AbortSignal.timeout(200_000) });

/** A hundred ssh_exec at once: those that were not accepted, and the ids of the others. */
async function startHundred(at: Remote, session_id: string, command: string) {
  const answers = await Promise.all(hundred.map(() => at.ask(exec, { session_id, command }, limit())));
  const refused = answers.filter(({ facts }) => facts['status'] !== 'started').map(({ text }) => text);
  return { refused, ids: answers.flatMap(({ facts }) => (facts['command_id'] as string | undefined) ?? []) };
}

async function endsOf(at: Remote, ids: readonly string[]): Promise<string[]> {
  const wait = { wait: true, wait_timeout_secs: 60 };
  const ends = await Promise.all(ids.map((command_id) => at.ask(execOutput, { command_id, ...wait }, limit())));
  return ends.map(({ facts }) => `${String(facts['status'])} ${String(facts['exit_code'] ?? facts['error'])}`);
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

test.each(['true', 'head -c 100000 /dev/zero'])(
  'after rounds of a hundred short commands (%s) a hundred long ones run at once, ten a link (MaxSessions 10)',
  async (short) => {
    await using at = new Remote({ connector: sshd.connector(), clock: slowClock });
    const session_id = await session(at, sshd);
    for (let round = 0; round < 4; round += 1) {
      const { refused, ids } = await startHundred(at, session_id, short);
      expect(refused).toEqual([]);
      expect(await endsOf(at, ids)).toEqual(hundred.map(() => 'completed 0'));
    }
    const { refused } = await startHundred(at, session_id, 'sleep 1000');
    expect(refused).toEqual([]);
    const { slots } = at.ssh.sessions.find(session_id, 'me');
    await expect.poll(() => [slots.inUse, slots.waiting, slots.links], { timeout: 60_000 }).toEqual([100, 0, 10]);
  },
  200_000,
);

/** A session all of whose ten channels are taken, and a command for which there is none. */
async function full(at: Remote, command: string) {
  const session_id = await session(at, sshd);
  const holders: string[] = [];
  for (let count = 0; count < 10; count += 1) holders.push(await started(at, session_id, 'sleep 1000'));
  const answer = await at.ask(exec, { session_id, command });
  return { session_id, holders, answer, command_id: answer.facts['command_id'] as string };
}

describe('ssh_exec returns at once when no channel is free', () => {
  test('QUEUED in both halves, and it runs when a channel is free', async () => {
    // Time stands still: an answer that waited for anything but the server would never come.
    await using at = new Remote({ connector: noAgain(), clock: new ManualClock() });
    const { holders, answer, command_id } = await full(at, 'echo it runs');
    expect(answer.facts).toMatchObject({ status: 'started', queued: true });
    expect(answer.text).toContain('\nQUEUED: true\n');
    const waiting = await at.ask(execOutput, { command_id });
    expect(waiting.facts).toMatchObject({ status: 'running', queued: true, stdout: '' });
    expect(waiting.text).toContain('\nQUEUED: true\n');

    await at.ask(execCancel, { command_id: holders[0] });
    const { facts, text } = await at.ask(execOutput, { command_id, wait: true });
    expect(facts).toMatchObject({ status: 'completed', exit_code: 0, stdout: 'it runs\n' });
    expect([Object.keys(facts).includes('queued'), text.includes('QUEUED')]).toEqual([false, false]);
  });

  test('without a free channel for ten seconds: FAILED, with CHANNEL_FAILED as its error (7)', async () => {
    const clock = new ManualClock();
    await using at = new Remote({ connector: noAgain(), clock });
    const { command_id } = await full(at, 'echo never');
    clock.advance(9_999);
    expect((await at.ask(execOutput, { command_id })).facts).toMatchObject({ status: 'running', queued: true });
    clock.advance(1);
    const { facts, text } = await at.ask(execOutput, { command_id, wait: true });
    const error = '[CHANNEL_FAILED] No channel of the session was free in time: all 10 are in use.';
    expect(facts).toMatchObject({ status: 'failed', stdout: '', error });
    expect(text).toContain(`\nERROR: ${error}\n`);
  });

  test('one that waits is cancelled at once and leaves the queue; so does one whose session ends', async () => {
    await using at = new Remote({ connector: noAgain(), clock: new ManualClock() });
    const { session_id, command_id } = await full(at, 'echo never');
    const { slots } = at.ssh.sessions.find(session_id, 'me');
    expect(slots.waiting).toBe(1);
    expect((await at.ask(execCancel, { command_id })).facts).toMatchObject({ status: 'cancelled', stdout: '' });
    expect(slots.waiting).toBe(0);
    const { facts } = await at.ask(exec, { session_id, command: 'echo never' });
    const ending = at.ask(disconnect, { session_id });
    const last = await at.ask(execOutput, { command_id: facts['command_id'], wait: true });
    expect(last.facts).toMatchObject({ status: 'cancelled' });
    sshd.cut();
    expect((await ending).facts).toMatchObject({ status: 'ok', commands_cancelled: 11 });
  });

  test('what the server refuses outright is an error of ssh_exec itself', async () => {
    await using none = await startSshd({ config: ['PermitTTY no'] });
    await using at = new Remote({ connector: none.connector() });
    const session_id = await session(at, none);
    const { facts } = await at.ask(exec, { session_id, command: 'true', pty: true });
    expect(facts).toMatchObject({ status: 'error', code: 'CHANNEL_FAILED' });
  });
});
