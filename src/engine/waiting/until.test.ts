import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual.ts';
import { openWire } from '../../../test/support/reading.ts';
import { type Holds, until } from './until.ts';

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** A wait of one second on a terminal whose far end is the test. */
function setUp(holds: (state: { readonly printed: () => number; readonly ended: () => boolean }) => Holds) {
  const clock = new ManualClock();
  const wire = openWire({ clock });
  onTestFinished(() => wire[Symbol.asyncDispose]());
  const { terminal } = wire;
  const listening = (): number[] => [terminal.output.size, terminal.state.changed.size, clock.timers];
  const before = listening();
  const ending = new AbortController();
  let outcome: unknown = 'waits';
  let asked = 0;
  const state = { printed: () => terminal.log.end, ended: () => terminal.ended !== undefined };
  const ask = (): Holds => {
    asked += 1;
    return holds(state);
  };
  until(terminal, ask, 1000, ending.signal).then(
    (held) => (outcome = held),
    (error: unknown) => (outcome = error),
  );
  const after = async (ms: number): Promise<unknown> => {
    clock.advance(ms);
    await turns();
    return outcome;
  };
  return {
    terminal,
    channel: wire.channel,
    say: (text: string) => wire.say(text),
    clock,
    ending,
    after,
    asked: () => asked,
    leftBehind: () => listening().map((n, at) => n - (before[at] ?? 0)),
  };
}

test('what holds already is told at once, and nothing is left behind', async () => {
  const { after, leftBehind } = setUp(() => true);
  expect(await after(0)).toBe(true);
  expect(leftBehind()).toEqual([0, 0, 0]);
});

test('the condition is asked after output, and after nothing else', async () => {
  const { after, asked, say } = setUp(({ printed }) => printed() >= 4);
  expect(await after(900)).toBe('waits');
  expect(asked()).toBe(1);
  await say('ab');
  expect(await after(0)).toBe('waits');
  await say('cd');
  expect(await after(0)).toBe(true);
});

test('false at the limit, and not before', async () => {
  const { after, leftBehind } = setUp(() => false);
  expect(await after(999)).toBe('waits');
  expect(await after(1)).toBe(false);
  expect(leftBehind()).toEqual([0, 0, 0]);
});

test('false at the end of the terminal, unless the end is what is waited for', async () => {
  const forText = setUp(() => false);
  await forText.terminal[Symbol.asyncDispose]();
  expect(await forText.after(0)).toBe(false);
  const forEnd = setUp(({ ended }) => ended());
  await forEnd.terminal[Symbol.asyncDispose]();
  expect(await forEnd.after(0)).toBe(true);
});

test('rejects when the call is cancelled', async () => {
  const { after, ending, leftBehind } = setUp(() => false);
  ending.abort();
  expect(await after(0)).toMatchObject({ code: 'cancelled' });
  expect(leftBehind()).toEqual([0, 0, 0]);
});

test('a condition that throws ends the wait, not the terminal', async () => {
  const { after, say, terminal } = setUp(({ printed }) => {
    if (printed() > 0) throw new Error('mistaken');
    return false;
  });
  await say('x');
  expect(await after(0)).toMatchObject({ message: 'mistaken' });
  expect(terminal.ended).toBeUndefined();
});

test('a time is waited for, and put off by output', async () => {
  let quietFrom = 0;
  const { after, clock, say } = setUp(({ printed }) => {
    if (printed() > 0) quietFrom = Math.max(quietFrom, 60);
    return quietFrom + 100;
  });
  expect(await after(60)).toBe('waits');
  await say('more');
  expect(await after(99)).toBe('waits');
  expect(await after(1)).toBe(true);
  expect(clock.monotonic()).toBe(160);
});

test('a time that is over is believed only when unread output has been fetched', async () => {
  const wire = setUp(({ printed }) => (printed() === 0 ? 50 : false));
  Object.assign(wire.channel, { flush: () => wire.channel.say(Buffer.from('late')) });
  expect(await wire.after(50)).toBe('waits');
  expect(wire.terminal.log.end).toBe(4);
  expect(await wire.after(950)).toBe(false);
});

test('an earlier time takes the place of a later one', async () => {
  const { after, say } = setUp(({ printed }) => (printed() < 3 ? 900 : 100));
  await say('ab');
  expect(await after(100)).toBe('waits');
  await say('c');
  expect(await after(0)).toBe(true);
});

test('output makes no timer of its own while one is to ask earlier', async () => {
  const { clock, say } = setUp(({ printed }) => 100 + printed());
  // The terminal arms timers of its own on its first output.
  await say('a');
  const made: number[] = [];
  const after = clock.after.bind(clock);
  clock.after = (ms, run) => {
    made.push(ms);
    return after(ms, run);
  };
  for (let chunk = 0; chunk < 20; chunk++) await say('b');
  expect(made.filter((ms) => ms > 100 && ms < 200)).toEqual([]);
});
