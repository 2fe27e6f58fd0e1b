import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EndedTerminals } from '../../../src/engine/reading/ended-terminals.ts';
import { SharedReader } from '../../../src/engine/reading/shared-reader.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { openWire } from '../../support/reading.ts';

const never = new AbortController().signal;
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** A far side the test speaks for, and what reads it. */
function open() {
  const clock = new ManualClock();
  const wire = openWire({ clock });
  return {
    ...wire,
    clock,
    reader: new SharedReader(wire.terminal),
    [Symbol.asyncDispose]: () => wire[Symbol.asyncDispose](),
  };
}

test('one read mark for all: it only moves on, and a character that is not whole waits for its rest', async () => {
  await using far = open();
  await far.say('one\n');
  const first = far.reader.unread();
  expect(text(first.bytes)).toBe('one\n');
  far.reader.take(first.to);
  far.reader.take(0);
  await far.say(Buffer.from('zwei ü').subarray(0, 6));
  expect(far.reader.unread()).toMatchObject({ to: 9, total: 5 });
  await far.say(Buffer.from('ü').subarray(1));
  expect(text(far.reader.unread().bytes)).toBe('zwei ü');
});

test('waits for so many bytes, for a pattern however it is cut, or for the time to run out', async () => {
  await using far = open();
  const enough = far.reader.awaitBytes(4, 1000, never);
  await far.say('abc');
  await far.say('d');
  expect(await enough).toBe('enough');
  const found = far.reader.awaitPattern([Buffer.from('no'), Buffer.from('switch> ')], 1000, never);
  await far.say('\r\nswi');
  await far.say('tch> x');
  expect(await found).toEqual({ pattern: 1, to: 14 });
  const late = far.reader.awaitPattern([Buffer.from('never')], 1000, never);
  await turn();
  far.clock.advance(1000);
  expect(await late).toBe('timeout');
});

test('the end closes every wait, and what was printed stays to be read', async () => {
  await using far = open();
  const waits = [far.reader.awaitBytes(99, 1000, never), far.reader.awaitPattern([Buffer.from('x')], 1000, never)];
  await far.say('last words');
  far.channel.end();
  expect(await Promise.all(waits)).toEqual(['closed', 'closed']);
  expect(far.reader.closed).toBe(true);
  expect(text(far.reader.unread().bytes)).toBe('last words');
  expect(text(await far.reader.peek(1000, 4, never))).toBe('last');
});

test('a peek answers when the terminal is quiet, or when its time is over, and takes nothing', async () => {
  await using far = open();
  let over = false;
  const peek = far.reader.peek(1000, 100, never).finally(() => {
    over = true;
  });
  far.clock.advance(500);
  await far.say('wel');
  far.clock.advance(19);
  await far.say('come');
  far.clock.advance(19);
  for (let turns = 0; turns < 10; turns++) await turn();
  expect(over).toBe(false);
  far.clock.advance(1);
  expect(text(await peek)).toBe('welcome');
  expect(text(far.reader.unread().bytes)).toBe('welcome');
  const silent = open();
  await using _silent = silent;
  const nothing = silent.reader.peek(300, 100, never);
  silent.clock.advance(300);
  expect(await nothing).toHaveLength(0);
});

test('ended terminals are dropped after their time, and the oldest where one owner has too many', () => {
  const clock = new ManualClock();
  const dropped: string[] = [];
  const name = ({ identity: { owner, number } }: Terminal): string => `${owner}${number}`;
  using ended = new EndedTerminals(clock, { keptMs: 1000, perOwner: 2 }, (terminal) => {
    dropped.push(name(terminal));
    ended.forget(terminal);
  });
  const end = (owner: string, number: number): void => ended.keep({ identity: { owner, number } } as Terminal);
  for (const number of [1, 2, 3]) end('ada', number);
  end('bob', 4);
  expect(dropped).toEqual(['ada1']);
  clock.advance(999);
  expect(dropped).toEqual(['ada1']);
  clock.advance(1);
  expect(dropped).toEqual(['ada1', 'ada2', 'ada3', 'bob4']);
});
