import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runCommand } from '../../../src/engine/run/run.ts';
import { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { ManualClock } from '../../support/clocks/manual.ts';

// Shells whose language is not spoken here: they get the line as it is, and no POSIX syntax around it.

/** Such a shell in the foreground, whose keyboard and screen are the test. */
function open(name: string) {
  const clock = new ManualClock();
  const channel = new EchoChannel({ cols: 80, rows: 24 }, { echo: false });
  const process = {
    pid: 7,
    foreground: () => ({ pid: 7, name, isLeader: true }),
    cwd: () => undefined,
    inputMode: () => 'raw' as const,
  };
  const terminal = new Terminal({
    id: 't_test',
    number: 1,
    name: undefined,
    program: name,
    channel: Object.assign(channel, { process }),
    size: { cols: 80, rows: 24 },
    scrollback: 100,
    clock,
    nonce: undefined,
    release: () => {},
  });
  const typed = (): string => Buffer.concat(channel.written).toString();
  const pass = async (ms: number): Promise<void> => {
    for (let turns = 0; turns < 20; turns++) await turn();
    clock.advance(ms);
    for (let turns = 0; turns < 20; turns++) await turn();
  };
  return { terminal, channel, typed, pass, [Symbol.asyncDispose]: () => terminal[Symbol.asyncDispose]() };
}

const never = new AbortController().signal;

test.each(['pwsh', 'nu', 'cmd'])(
  '%s is typed the line as it is, and its end is told by quiet, without an exit code',
  async (name) => {
    await using far = open(name);
    far.channel.say('PS /home> ');
    await far.terminal.sync(never);
    const running = runCommand(far.terminal, { command: 'echo hi', timeoutMs: 30_000, by: 'test' }, never);
    await far.pass(0);
    expect(far.typed()).toBe('echo hi\r');
    far.channel.say('echo hi\r\nhi\r\nPS /home> ');
    // A quiet watch asks anew each time its silence was broken.
    for (let step = 0; step < 10; step++) await far.pass(100);
    expect(await running).toMatchObject({ state: 'done', exitCode: null, evidence: 'quiet', output: 'hi' });
  },
);

test('forced where no prompt shows, pwsh still gets the line as it is', async () => {
  await using far = open('pwsh');
  far.channel.say('busy');
  await far.terminal.sync(never);
  const request = { command: 'echo hi', timeoutMs: 2000, by: 'test', force: true };
  const running = runCommand(far.terminal, request, never);
  await far.pass(1000);
  expect(far.typed()).toBe('echo hi\r');
  await far.pass(2000);
  expect(await running).toMatchObject({ exitCode: null });
});
