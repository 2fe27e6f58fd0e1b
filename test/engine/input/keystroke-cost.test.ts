import { expect, test } from 'vitest';
import { parseKey } from '../../../src/engine/input/keys.ts';
import { pressKey, typeText } from '../../../src/engine/input/typing.ts';
import { Terminal } from '../../../src/engine/terminal/terminal.ts';
import type { ProcessView } from '../../../src/engine/terminal/channel.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { mark, nonce } from '../../support/reading.ts';

// Each question about the processes behind a terminal walks /proc: a key on its way must not ask one.

const never = new AbortController().signal;

/** A terminal without a policy whose process view notes what it is asked. Its clock stands: nothing is asked later either. */
async function open(prints: string) {
  const asked: string[] = [];
  const note =
    <T>(what: string, answer: T): (() => T) =>
    () => {
      asked.push(what);
      return answer;
    };
  const process: ProcessView = {
    pid: 7,
    foreground: note('foreground', { pid: 7, name: 'bash', isLeader: true }),
    cwd: note('cwd', undefined),
    inputMode: note('inputMode', 'raw' as const),
    longestLine: note('longestLine', undefined),
    reads: note('reads', true),
    environment: note('environment', undefined),
  };
  const channel = Object.assign(new EchoChannel({ cols: 80, rows: 24 }, { echo: false }), { process });
  const terminal = new Terminal({
    id: 't_test',
    number: 1,
    name: undefined,
    program: 'bash',
    channel,
    size: { cols: 80, rows: 24 },
    scrollback: 100,
    clock: new ManualClock(),
    nonce,
    release: () => {},
  });
  channel.say(prints);
  await terminal.sync(never);
  asked.length = 0;
  const typed = (): string => Buffer.concat(channel.written).toString();
  return { terminal, asked, typed, [Symbol.asyncDispose]: () => terminal[Symbol.asyncDispose]() };
}

const shell = `\x1b]633;P;shell=bash;pid=7;fl=${nonce}\x07${mark('A', ';n=1')}$ ${mark('B', ';n=1')}`;

test.each([
  ['at the prompt of its shell, not even of the mode of the terminal', shell, []],
  ['while a command runs, beyond the mode of the terminal, once', `${shell}cat\r\n${mark('C', ';n=1')}`, ['inputMode']],
  ['without marks, beyond the mode of the terminal, once', 'hello\r\n> ', ['inputMode']],
])('keys ask nothing of the processes %s', async (_where, prints, asked) => {
  await using far = await open(prints);
  for (const key of ['l', 's', ' ']) {
    await typeText(far.terminal, key, { by: 'test', paste: false, submit: false }, never);
  }
  await pressKey(far.terminal, parseKey('ctrl+u'), { by: 'test', repeat: 1 }, never);
  await pressKey(far.terminal, parseKey('up'), { by: 'test', repeat: 1 }, never);
  expect(far.typed()).toMatch(/^ls \x15\x1b[[O]A$/);
  expect(far.asked).toEqual(asked);
});

test('a line entered at the prompt of a shell asks nothing either', async () => {
  await using far = await open(shell);
  await typeText(far.terminal, 'ls', { by: 'test', paste: false, submit: true }, never);
  await pressKey(far.terminal, parseKey('enter'), { by: 'test', repeat: 1 }, never);
  expect(far.typed()).toBe('ls\r\r');
  expect(far.asked).toEqual([]);
});
