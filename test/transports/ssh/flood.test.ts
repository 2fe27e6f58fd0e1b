import { expect, test } from 'vitest';
import { execBatch } from '../../../src/operations/remote/batch.ts';
import { list } from '../../../src/operations/remote/command-list.ts';
import { exec, execCancel, execOutput } from '../../../src/operations/remote/commands.ts';
import { run } from '../../../src/operations/remote/run.ts';
import { disconnect } from '../../../src/operations/remote/sessions.ts';
import { Remote } from '../../support/ssh/remote.ts';
import { slowClock } from '../../support/clocks/slow.ts';
import { ended, started } from '../../support/ssh/commands.ts';
import { session, withSshd } from '../../support/ssh/login.ts';
import type { Sshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
// OpenSSH's own default, said aloud.
withSshd((started) => (sshd = started), { config: ['MaxSessions 10'] });

/** The most memory that buffers took while the work went on, beyond what they took before. */
async function peak(work: Promise<unknown>): Promise<number> {
  const used = (): number => process.memoryUsage().arrayBuffers;
  const before = used();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, used())), 5);
  await work;
  clearInterval(timer);
  return Math.max(most, used()) - before;
}

test('100 MB of output: the newest 10 MB stay, memory is bounded, and nothing is lost on the way', async () => {
  await using at = new Remote({ connector: sshd.connector() });
  const on = await session(at, sshd);
  const command_id = await started(at, on, 'head -c 104857590 /dev/zero | tr "\\0" x; printf 0123456789');
  expect(await peak(ended(at, command_id))).toBeLessThan(80 << 20);
  const { output } = at.ssh.commands.find(command_id, 'me');
  expect([output.end, output.start]).toEqual([104_857_600, 104_857_600 - (10 << 20)]);
  expect(output.allocated).toBe(10 << 20);
  const { facts } = await ended(at, command_id, { max_output_bytes: 12 });
  expect(facts).toMatchObject({
    status: 'completed',
    stdout: 'xx0123456789',
    stdout_shown_bytes: 12,
    stdout_total_bytes: 104_857_600,
  });
}, 120_000);

test('a flood nobody reads: memory is bounded, and other commands of the session answer', async () => {
  await using at = new Remote({ connector: sshd.connector(), settings: { commandBufferBytes: 1 << 20 } });
  const on = await session(at, sshd);
  const flood = await started(at, on, 'yes no | tee /dev/stderr');
  const busy = (async () => {
    for (let count = 0; count < 20; count++) {
      expect((await ended(at, await started(at, on, `echo ${count}`))).facts).toMatchObject({ stdout: `${count}\n` });
    }
    const { output } = at.ssh.commands.find(flood, 'me');
    await expect.poll(() => output.end, { timeout: 60_000 }).toBeGreaterThan(50 << 20);
    expect(output.allocated).toBeLessThanOrEqual(2 << 20);
  })();
  expect(await peak(busy)).toBeLessThan(80 << 20);
  expect((await at.run(execCancel, { command_id: flood })).status).toBe('cancelled');
}, 120_000);

test('100 commands at once where the server gives ten channels; the next is refused (7)', {
  timeout: 120_000,
}, async () => {
  await using at = new Remote({ connector: sshd.connector(), clock: slowClock });
  const on = await session(at, sshd);
  const input = { session_id: on, command: 'read -r line; echo "got $line"; sleep 600', pty: true };
  const answers = await Promise.all(Array.from({ length: 100 }, () => at.ask(exec, input)));
  expect(new Set(answers.map(({ facts }) => facts['status']))).toEqual(new Set(['started']));
  expect((await at.run(list, { status: 'running' })).total).toBe(100);

  const { text, facts } = await at.ask(exec, { session_id: on, command: 'true' });
  expect(text.replaceAll(on, '<session>')).toBe(
    [
      'SSH_EXEC: ERROR',
      'REASON: [MAX_COMMANDS_EXCEEDED] session <session> runs 100 commands already',
      'DETAIL: Wait for a command or cancel one with ssh_exec_cancel; limit=100',
    ].join('\n'),
  );
  expect(facts).toMatchObject({ category: 'POLICY', retryable: true });
  expect((await at.ask(run, { ...sshd.login, command: 'true' })).facts).toMatchObject({
    code: 'MAX_COMMANDS_EXCEEDED',
  });
  expect((await at.ask(execBatch, { session_id: on, commands: ['true'] })).facts).toMatchObject({
    code: 'MAX_COMMANDS_EXCEEDED',
    results: [],
  });

  const first = answers[0]?.facts['command_id'] as string;
  await at.run(execCancel, { command_id: first });
  expect((await at.ask(exec, { session_id: on, command: 'true' })).facts).toMatchObject({ status: 'started' });
  expect(await at.run(disconnect, { session_id: on })).toMatchObject({ status: 'ok' });
  expect((await at.run(list, { status: 'running' })).total).toBe(0);
  expect((await at.run(execOutput, { command_id: first })).status).toBe('cancelled');
});
