import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parseKey } from '../../../src/engine/input/keys.ts';
import { readyForLine } from '../../../src/engine/waiting/ready-for-line.ts';
import { firstPrompt, answered } from '../../../src/engine/waiting/answered.ts';
import { deferred } from '../../../src/lib/deferred.ts';
import { pressKey } from '../../../src/engine/input/typing.ts';
import { awaitCondition } from '../../../src/engine/waiting/await-condition.ts';
import { mark, openWire, type Wire } from '../../support/reading.ts';
import { ManualClock } from '../../support/clocks/manual.ts';

const never = new AbortController().signal;
const prompt = (n: number): string => `${mark('A', `;n=${n}`)}$ ${mark('B', `;n=${n}`)}`;
const ran = (n: number, output: string): string => `${mark('C', `;n=${n}`)}${output}${mark('D', `;0;n=${n}`)}`;

function open(reads?: () => boolean | undefined): {
  clock: ManualClock;
  wire: Wire;
  type: (text: string) => Promise<void>;
} {
  const clock = new ManualClock();
  const wire = openWire({ clock, ...(reads && { reads }) });
  return { clock, wire, type: (text) => wire.terminal.input.send(Buffer.from(text), 'test', never) };
}

/** Whether it is over, after everything that is due has run. */
function watched(promise: Promise<unknown>): () => Promise<boolean> {
  let over = false;
  void promise.then(() => {
    over = true;
  });
  return async () => {
    for (let turns = 0; turns < 5; turns++) await turn();
    return over;
  };
}

test('R-TERM-050: the prompt after a command ends the wait at once', async () => {
  const { wire, type } = open();
  await using _wire = wire;
  await wire.say(prompt(0));
  await type('true\r');
  const over = watched(answered(wire.terminal, never));
  await wire.say(`true\r\n${mark('C', ';n=0')}`);
  expect(await over()).toBe(false);
  await wire.say(`${mark('D', ';0;n=0')}${prompt(1)}`);
  await expect.poll(over).toBe(true);
});

test('calls that come together: what is still on its way to the keyboard counts', async () => {
  const { wire, type } = open();
  await using _wire = wire;
  await wire.say(prompt(0));
  const press = pressKey(wire.terminal, parseKey('ArrowUp'), { by: 'test', repeat: 1 }, never);
  // The call that reads has less to do before it begins than the one that types.
  const over = watched(answered(wire.terminal, never));
  await Promise.all([press, type('\r')]);
  expect(await over()).toBe(false);
  await wire.say(`true\r\n${ran(0, '')}${prompt(1)}`);
  await expect.poll(over).toBe(true);
});

test('a program that takes nothing is not waited for', async () => {
  const { clock, wire } = open();
  await using _wire = wire;
  await wire.say(prompt(0));
  const taken = deferred();
  const stuck = wire.terminal.input.turn({ by: 'test', size: 1 }, () => taken.promise, never);
  const over = watched(answered(wire.terminal, never));
  expect(await over()).toBe(false);
  clock.advance(150);
  await expect.poll(over).toBe(true);
  taken.resolve();
  await stuck;
});

test.each([
  ['typed ahead of it', ['echo mine\r'], () => false],
  ['typed after Ctrl+C', ['\x03', 'echo mine\r'], () => true],
  ['typed after Ctrl+C, its Enter apart', ['\x03', 'echo mine', '\r'], () => true],
])('the prompt of the command before is not the answer to a line %s', async (_name, keys, reads) => {
  const { wire, type } = open(reads);
  await using _wire = wire;
  await wire.say(`${prompt(0)}cat\r\n${mark('C', ';n=0')}`);
  for (const typed of keys) await type(typed);
  const over = watched(answered(wire.terminal, never));
  await wire.say(`${mark('D', ';130;n=0')}${prompt(1)}`);
  expect(await over()).toBe(false);
  await wire.say(`echo mine\r\n${ran(1, 'mine\r\n')}`);
  expect(await over()).toBe(false);
  await wire.say(prompt(2));
  await expect.poll(over).toBe(true);
});

test('a line typed ahead that nobody takes is waited for until the prompt has stayed for a while', async () => {
  const { clock, wire, type } = open(() => false);
  await using _wire = wire;
  await wire.say(`${prompt(0)}read x\r\n${mark('C', ';n=0')}`);
  await type('yes\r');
  const over = watched(answered(wire.terminal, never));
  await wire.say(`yes\r\n${mark('D', ';0;n=0')}${prompt(1)}`);
  clock.advance(149);
  expect(await over()).toBe(false);
  clock.advance(1);
  await expect.poll(over).toBe(true);
});

test.each([() => true, () => undefined])(
  'a line that the program waits for is answered by the next prompt',
  async (reads) => {
    const { wire, type } = open(reads);
    await using _wire = wire;
    await wire.say(`${prompt(0)}read x\r\n${mark('C', ';n=0')}`);
    await type('yes\r');
    const over = watched(answered(wire.terminal, never));
    await wire.say(`yes\r\n${mark('D', ';0;n=0')}${prompt(1)}`);
    await expect.poll(over).toBe(true);
  },
);

test('a key that ends no line is answered by the next prompt', async () => {
  const { wire, type } = open();
  await using _wire = wire;
  await wire.say(`${prompt(0)}cat\r\n${mark('C', ';n=0')}`);
  await type('\x03');
  const over = watched(answered(wire.terminal, never));
  await wire.say(`^C${mark('D', ';130;n=0')}${prompt(1)}`);
  await expect.poll(over).toBe(true);
});

test('waiting for a prompt passes the one that a line was typed ahead of', async () => {
  const { clock, wire, type } = open(() => false);
  await using _wire = wire;
  await wire.say(`${prompt(0)}cat\r\n${mark('C', ';n=0')}`);
  await type('echo mine\r');
  const result = awaitCondition(wire.terminal, { conditions: [{ type: 'prompt' }], timeoutMs: 10_000 }, never);
  const over = watched(result);
  await wire.say(`${mark('D', ';130;n=0')}${prompt(1)}`);
  expect(await over()).toBe(false);
  await wire.say(`echo mine\r\n${ran(1, 'mine\r\n')}${prompt(2)}`);
  await expect.poll(over).toBe(true);
  expect(await result).toMatchObject({ hit: 0 });

  await wire.say(`read x\r\n${mark('C', ';n=2')}`);
  await type('yes\r');
  const taken = watched(awaitCondition(wire.terminal, { conditions: [{ type: 'prompt' }], timeoutMs: 10_000 }, never));
  await wire.say(`yes\r\n${mark('D', ';0;n=2')}${prompt(3)}`);
  expect(await taken()).toBe(false);
  clock.advance(150);
  await expect.poll(taken).toBe(true);
});

test('R-RPC-023: a shell that marks its prompts is waited for up to the limit, and less once it has said something', async () => {
  const { clock, wire } = open();
  await using _wire = wire;
  const over = watched(firstPrompt(wire.terminal, never, 10_000));
  clock.advance(9999);
  expect(await over()).toBe(false);
  clock.advance(1);
  await expect.poll(over).toBe(true);
  await wire.say('Enter the code: ');
  const spoken = watched(firstPrompt(wire.terminal, never, 10_000));
  expect(await spoken()).toBe(false);
  clock.advance(3000);
  await expect.poll(spoken).toBe(true);
  const prompted = watched(firstPrompt(wire.terminal, never, 10_000));
  await wire.say(prompt(0));
  await expect.poll(prompted).toBe(true);
});

test('R-RPC-023: a program without marks is ready with its first output, or after half a second', async () => {
  const clock = new ManualClock();
  await using wire = openWire({ clock, trusted: false });
  const silent = watched(firstPrompt(wire.terminal, never, 10_000));
  clock.advance(499);
  expect(await silent()).toBe(false);
  clock.advance(1);
  await expect.poll(silent).toBe(true);
  const spoken = watched(firstPrompt(wire.terminal, never, 10_000));
  await wire.say('>');
  await expect.poll(spoken).toBe(true);
});

test('R-RPC-054: what marks no prompt is rested after 250 ms of quiet, after 2 s in any case', async () => {
  const clock = new ManualClock();
  await using wire = openWire({ clock, trusted: false });
  await wire.say('loading');
  const quiet = watched(readyForLine(wire.terminal, never));
  clock.advance(200);
  expect(await quiet()).toBe(false);
  await wire.say('.');
  clock.advance(200);
  expect(await quiet()).toBe(false);
  clock.advance(50);
  await expect.poll(quiet).toBe(true);
  const busy = watched(readyForLine(wire.terminal, never));
  for (let ms = 0; ms < 1800; ms += 200) {
    await wire.say('.');
    clock.advance(200);
    expect(await busy()).toBe(false);
  }
  await wire.say('.');
  clock.advance(200);
  await expect.poll(busy).toBe(true);
});

test('R-RPC-054: a prompt that was announced is not waited for any longer', async () => {
  const { wire } = open();
  await using _wire = wire;
  const over = watched(readyForLine(wire.terminal, never));
  expect(await over()).toBe(false);
  await wire.say(prompt(0));
  await expect.poll(over).toBe(true);
});
