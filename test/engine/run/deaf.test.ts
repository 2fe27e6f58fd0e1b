import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { follow, type RunResult, runCommand } from '../../../src/engine/run/run.ts';
import { Terminal } from '../../../src/engine/terminal/terminal.ts';
import type { InputMode } from '../../../src/engine/shells/input-mode.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { mark, nonce } from '../../support/reading.ts';
import { limit, shellHome } from '../../support/engine.ts';
import { ManualClock } from '../../support/clocks/manual.ts';

// A shell that has stopped reading its keys, as bash does after Ctrl+C at the wrong moment of a completion.

/** Nothing ever writes into the pipe. */
const completion = `[ -p ~/never ] || mkfifo ~/never
hang() { trap '' INT; echo completing >&2; read -r x < ~/never; }
complete -F hang stuck
`;
const home = shellHome({ '.bashrc': completion });
afterAll(() => home[Symbol.asyncDispose]());
const never = new AbortController().signal;

const start = (terminal: Terminal, command: string): Promise<RunResult> =>
  runCommand(terminal, { command, timeoutMs: 60_000, by: 'test' }, limit(70_000));

/** A bash at its prompt whose keyboard and screen are the test. */
function open(mode: InputMode | undefined) {
  const clock = new ManualClock();
  const channel = new EchoChannel({ cols: 80, rows: 24 }, { echo: false });
  const process = {
    pid: 7,
    foreground: () => ({ pid: 7, name: 'bash', isLeader: true }),
    cwd: () => undefined,
    inputMode: () => mode,
  };
  const terminal = new Terminal({
    id: 't_test',
    number: 1,
    name: undefined,
    program: 'bash',
    channel: Object.assign(channel, { process }),
    size: { cols: 80, rows: 24 },
    scrollback: 100,
    clock,
    nonce,
    release: () => {},
  });
  channel.say(`\x1b]633;P;shell=bash;pid=7;fl=${nonce}\x07${mark('A', ';n=1')}$ ${mark('B', ';n=1')}`);
  const pass = async (ms: number): Promise<void> => {
    for (let turns = 0; turns < 10; turns++) await turn();
    clock.advance(ms);
    for (let turns = 0; turns < 10; turns++) await turn();
  };
  return { terminal, channel, clock, pass, [Symbol.asyncDispose]: () => terminal[Symbol.asyncDispose]() };
}

const request = { command: 'true', timeoutMs: 30_000, by: 'test' };

test('a shell in raw mode that shows nothing of a line for 8 s is said not to react, and gets no other line', async () => {
  await using far = open('raw');
  await far.terminal.sync(never);
  let over = false;
  const result = runCommand(far.terminal, request, never).finally(() => {
    over = true;
  });
  await far.pass(7999);
  expect(over).toBe(false);
  await far.pass(1);
  expect(await result).toMatchObject({
    state: 'running',
    exitCode: null,
    evidence: 'quiet',
    note: expect.stringMatching(/does not react to keys.*close this terminal and open another/),
  });
  const { length } = far.channel.written;
  await expect(runCommand(far.terminal, request, never)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('does not react to keys'),
    hint: expect.stringContaining('open another'),
  });
  expect(far.channel.written).toHaveLength(length);
});

test.each([
  ['shows the line', 'raw', 'true\r\n'],
  ['is not in raw mode', 'lines', ''],
  ['is in an unknown mode', undefined, ''],
] as const)('a shell that %s is waited for as long as the call says', async (_what, mode, shown) => {
  await using far = open(mode);
  await far.terminal.sync(never);
  const result = runCommand(far.terminal, request, never);
  await far.pass(0);
  if (shown !== '') far.channel.say(shown);
  await far.pass(29_999);
  await far.pass(1);
  expect(await result).toMatchObject({ state: 'running', evidence: 'none', durationMs: 30_000 });
});

test('a bash that is stopped is noticed, and runs the line when it goes on', { timeout: 90_000 }, async () => {
  await using terminal = await home.open('bash');
  await start(terminal, 'true');
  // Its line editor reads: stopped before that, the terminal would show the line in its place.
  await expect.poll(() => terminal.blocks.promptAt !== undefined && terminal.process?.inputMode()).toBe('raw');
  const pid = Number(terminal.blocks.shell?.['pid']);
  process.kill(pid, 'SIGSTOP');
  try {
    expect(await start(terminal, 'echo woken')).toMatchObject({
      state: 'running',
      note: expect.stringContaining('does not react to keys'),
    });
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await expect.poll(() => terminal.log.read(0).bytes.length && terminal.blocks.last?.command).toBe('echo woken');
  expect(await follow(terminal, { timeoutMs: 30_000 }, limit(40_000))).toMatchObject({
    state: 'done',
    exitCode: 0,
    output: 'woken',
  });
});

test('a bash that hangs in a completion and does not hear Ctrl+C is given no command', {
  timeout: 90_000,
}, async () => {
  await using terminal = await home.open('bash');
  await terminal.input.send(Buffer.from('stuck \t'), 'test', limit());
  await expect
    .poll(() => Buffer.from(terminal.log.read(0).bytes).toString(), { timeout: 20_000 })
    .toContain('completing');
  await terminal.input.send(Uint8Array.of(3), 'test', limit());
  await expect(start(terminal, 'echo no')).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/does not react to keys.*Ctrl\+C/),
  });
});
