import { expect, test } from 'vitest';
import { follow, runCommand } from '../../../src/engine/run/run.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { awaitCondition } from '../../../src/engine/waiting/await-condition.ts';
import { never, Workplace } from '../../support/prompt-desk.ts';
import { isRoot, type Sshd, startSshd } from '../../support/ssh/sshd.ts';

/** As a person types it, to a host that asks for the password. */
const login = ({ user, host, port }: Sshd): string =>
  `ssh -p ${port} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o PubkeyAuthentication=no ${user}@${host}`;

const limit = (): AbortSignal => AbortSignal.timeout(60_000);
/** Far longer than any of this may take. */
const timeoutMs = 600_000;

const typed = (terminal: Terminal, text: string): Promise<void> =>
  terminal.input.send(Buffer.from(`${text}\r`), 'person', never);

test.runIf(isRoot)(
  'after the password of an interactive ssh its prompt is seen at once, not when time is up',
  async () => {
    await using sshd = await startSshd({ password: true });
    await using place = await Workplace.open();
    const terminal = await place.shell();
    const asked = await runCommand(terminal, { command: login(sshd), timeoutMs, by: 'test' }, limit());
    expect(asked).toMatchObject({ state: 'needs_person', asks: { prompt: `${sshd.user}@${sshd.host}'s password:` } });
    const followed = follow(terminal, { timeoutMs }, limit());
    await typed(terminal, sshd.password);
    expect(await followed).toMatchObject({
      state: 'running',
      evidence: 'foreground',
      note: expect.stringContaining('ssh waits at a prompt'),
    });
    // Whoever was told so waits for something else.
    const again = follow(terminal, { timeoutMs: 1000 }, limit());
    expect(await again).toMatchObject({ state: 'running', evidence: 'none' });
    const inside = await runCommand(terminal, { command: 'echo in"side"', timeoutMs, by: 'test' }, limit());
    expect(inside).toMatchObject({ state: 'done', exitCode: 0, output: 'inside' });
  },
);

test.runIf(isRoot)('a wait for the prompt ends with it, too', async () => {
  await using sshd = await startSshd({ password: true });
  await using place = await Workplace.open();
  const terminal = await place.shell();
  await runCommand(terminal, { command: login(sshd), timeoutMs, by: 'test' }, limit());
  await typed(terminal, sshd.password);
  const { hit } = await awaitCondition(terminal, { conditions: [{ type: 'prompt' }], timeoutMs }, limit());
  expect(hit).toBe(0);
});

test.runIf(isRoot)('what it asks is shown without the line that we typed around the command', async () => {
  await using sshd = await startSshd({ keyboardInteractive: true });
  await using place = await Workplace.open();
  const terminal = await place.engine.sessions.create({ argv: ['dash'] }, { principal: 'test' }, never);
  const asked = await runCommand(terminal, { command: login(sshd), timeoutMs, by: 'test' }, limit());
  expect(asked).toMatchObject({ state: 'needs_person', asks: { prompt: `(${sshd.user}@${sshd.host}) Password:` } });
});
