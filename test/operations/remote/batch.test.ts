import { describe, expect, test } from 'vitest';
import { execBatch } from '../../../src/operations/remote/batch.ts';
import { list } from '../../../src/operations/remote/command-list.ts';
import { execCancel } from '../../../src/operations/remote/commands.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { plain, Remote } from '../../support/ssh/remote.ts';
import { printed, running } from '../../support/ssh/commands.ts';
import { session, withSession } from '../../support/ssh/login.ts';
import { type Sshd, startSshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
let at: Remote;
let session_id: string;
withSession((made) => ({ sshd, at, session_id } = made));

const nothing = { stdout: '', stderr: '', stdout_truncated: false, stderr_truncated: false, timed_out: false };

describe('ssh_exec_batch', () => {
  test('OK: in order, one after the other (row 11)', async () => {
    const commands = ['echo one > $HOME/b', 'echo two >> $HOME/b; sleep 0.1', 'cat $HOME/b; echo e >&2'];
    const { text, facts } = await at.ask(execBatch, { session_id, commands });
    expect(plain(text)).toBe(
      [
        'SSH_EXEC_BATCH: OK',
        'SESSION_ID: <id1>',
        'TOTAL: 3',
        'EXECUTED: 3',
        '- [0] echo one > $HOME/b: COMPLETED exit=0',
        '- [1] echo two >> $HOME/b; sleep 0.1: COMPLETED exit=0',
        '- [2] cat $HOME/b; echo e >&2: COMPLETED exit=0',
      ].join('\n'),
    );
    expect(facts).toMatchObject({ tool: 'ssh_exec_batch', status: 'ok', session_id, total: 3, executed: 3 });
    expect((facts['results'] as unknown[])[2]).toEqual({
      index: 2,
      command: 'cat $HOME/b; echo e >&2',
      status: 'completed',
      command_id: expect.any(String),
      exit_code: 0,
      ...nothing,
      stdout: 'one\ntwo\n',
      stderr: 'e\n',
    });
  });

  test('HALTED at the first that fails; the rest is skipped (10.15)', async () => {
    const commands = ['true', 'echo no >&2; exit 2', 'echo never'];
    const { text, facts } = await at.ask(execBatch, { session_id, commands });
    expect(plain(text)).toBe(
      [
        'SSH_EXEC_BATCH: HALTED',
        'SESSION_ID: <id1>',
        'TOTAL: 3',
        'EXECUTED: 2',
        '- [0] true: COMPLETED exit=0',
        '- [1] echo no >&2; exit 2: FAILED exit=2',
        '- [2] echo never: SKIPPED',
      ].join('\n'),
    );
    expect(facts).toMatchObject({ status: 'halted', total: 3, executed: 2 });
    const [, failed, skipped] = facts['results'] as unknown[];
    expect(failed).toMatchObject({
      status: 'failed',
      exit_code: 2,
      stderr: 'no\n',
      error: '[REMOTE_CMD_FAILED] exit code 2',
    });
    expect(skipped).toEqual({ index: 2, command: 'echo never', status: 'skipped', ...nothing });
  });

  test('OK when all ran, whatever their exit: a failing last one, or stop_on_failure=false', async () => {
    expect(await at.run(execBatch, { session_id, commands: ['true', 'false'] })).toMatchObject({
      status: 'ok',
      executed: 2,
    });
    const clock = new ManualClock();
    await using alone = new Remote({ connector: sshd.connector(), clock });
    const asked = alone.ask(execBatch, {
      session_id: await session(alone, sshd),
      commands: ['false', 'kill -9 $$', 'echo up; sleep 600', 'echo on'],
      stop_on_failure: false,
      timeout_secs_per_command: 1,
    });
    const slow = ({ command }: { readonly command: string }): boolean => command.includes('sleep');
    const find = async () => (await alone.run(list, { status: 'running' })).commands.find(slow)?.command_id;
    await expect.poll(find, { timeout: 20_000 }).toBeDefined();
    await printed(alone, (await find()) as string, 'up\n');
    clock.advance(1000);
    const { text } = await asked;
    expect(text.split('\n').slice(3)).toEqual([
      'EXECUTED: 4',
      '- [0] false: FAILED exit=1',
      '- [1] kill -9 $$: FAILED exit=137',
      '- [2] echo up; sleep 600: TIMEOUT',
      '- [3] echo on: COMPLETED exit=0',
    ]);
  });

  test('a command somebody cancels counts as failed', async () => {
    await using alone = new Remote({ connector: sshd.connector() });
    const on = await session(alone, sshd);
    const waiting = alone.ask(execBatch, { session_id: on, commands: ['sleep 600', 'true'] });
    await alone.run(execCancel, { command_id: await running(alone) });
    expect((await waiting).text.split('\n').slice(3)).toEqual([
      'EXECUTED: 1',
      '- [0] sleep 600: CANCELLED',
      '- [1] true: SKIPPED',
    ]);
  });

  test('output is cut for each command', async () => {
    const { results } = await at.run(execBatch, {
      session_id,
      commands: ['seq 100', 'echo é'],
      max_output_bytes_per_command: 4,
    });
    expect(results.map(({ stdout, stdout_truncated }) => [stdout, stdout_truncated])).toEqual([
      ['100\n', true],
      ['é\n', false],
    ]);
  });

  test('a link that breaks midway: ERROR, and what was finished is still told (row 11)', async () => {
    await using own = await startSshd();
    await using alone = new Remote({ connector: own.connector() });
    const on = await session(alone, own);
    const commands = ['echo first', 'echo second; sleep 600', 'echo third'];
    const waiting = alone.ask(execBatch, { session_id: on, commands, stop_on_failure: false });
    await expect
      .poll(async () => (await alone.run(list, {})).commands.map(({ status }) => status), { timeout: 20_000 })
      .toEqual(['completed', 'running']);
    own.cut();
    const { text, facts } = await waiting;
    expect(text).toMatch(
      /^SSH_EXEC_BATCH: ERROR\nREASON: \[COMMAND_FAILED\] The (server closed|connection broke).+\nDETAIL: .+; command 1$/,
    );
    expect(facts).toMatchObject({
      tool: 'ssh_exec_batch',
      status: 'error',
      code: 'COMMAND_FAILED',
      session_id: on,
      total: 3,
      executed: 2,
    });
    expect(facts['results']).toMatchObject([
      { index: 0, status: 'completed', stdout: 'first\n' },
      { index: 1, status: 'failed', error: expect.any(String) },
    ]);
  });

  test('a command that cannot be started: ERROR with what was finished', async () => {
    await using own = await startSshd({ config: ['PermitTTY no'] });
    await using alone = new Remote({ connector: own.connector() });
    const on = await session(alone, own);
    const { facts } = await alone.ask(execBatch, { session_id: on, commands: ['true'], pty: true });
    expect(facts).toMatchObject({ status: 'error', code: 'CHANNEL_FAILED', total: 1, executed: 0, results: [] });
  });

  test('a caller that hangs up ends the waiting; the rest is not started', async () => {
    await using alone = new Remote({ connector: sshd.connector() });
    const on = await session(alone, sshd);
    const hangUp = new AbortController();
    const waiting = alone.ask(
      execBatch,
      { session_id: on, commands: ['sleep 600', 'true'] },
      { signal: hangUp.signal },
    );
    const command_id = await running(alone);
    hangUp.abort();
    expect((await waiting).facts).toMatchObject({ status: 'error' });
    expect(alone.ssh.commands.find(command_id, 'me').status).toBe('running');
    await alone.run(execCancel, { command_id });
    expect((await alone.run(list, {})).total).toBe(1);
  });

  test.each([
    ['none', []],
    ['seventeen', Array.from({ length: 17 }, () => 'true')],
    ['an empty one', ['true', '']],
  ])('INVALID_ARGUMENT: %s', async (_, commands) => {
    expect((await at.ask(execBatch, { session_id, commands })).facts).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('SESSION_NOT_FOUND', async () => {
    const missing = '01900000-0000-7000-8000-000000000000';
    const { text, facts } = await at.ask(execBatch, { session_id: missing, commands: ['true'] });
    expect(text).toContain(`REASON: [SESSION_NOT_FOUND] no session with id ${missing}`);
    expect(facts).toMatchObject({ total: 1, executed: 0, results: [] });
  });
});
