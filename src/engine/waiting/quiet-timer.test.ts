import { expect, onTestFinished, test } from 'vitest';
import { openWire } from '../../../test/support/reading.ts';
import { ManualClock } from '../../../test/support/clocks/manual.ts';
import { deferred } from '../../lib/deferred.ts';
import { QuietTimer } from './quiet-timer.ts';

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** A timer on a terminal whose far side is fetched from as told. */
function setUp(flush?: () => void | Promise<void>) {
  const clock = new ManualClock();
  const wire = openWire({ clock });
  onTestFinished(() => wire[Symbol.asyncDispose]());
  const { terminal, channel } = wire;
  if (flush) Object.assign(channel, { flush });
  /** How much had been printed at each look. */
  const looks: number[] = [];
  const timer = new QuietTimer(terminal, () => looks.push(terminal.log.end));
  onTestFinished(() => timer[Symbol.dispose]());
  return { clock, channel, timer, looks };
}

test('looks once when the time is over, and not before', async () => {
  const { clock, timer, looks } = setUp();
  expect(timer.armed).toBe(false);
  timer.arm(100);
  clock.advance(99);
  await turns();
  expect([timer.armed, looks]).toEqual([true, []]);
  clock.advance(1);
  await turns();
  expect([timer.armed, looks]).toEqual([false, [0]]);
  clock.advance(1000);
  await turns();
  expect(looks).toEqual([0]);
});

test('armed again, it has the new time instead of the old', async () => {
  const { clock, timer, looks } = setUp();
  timer.arm(100);
  clock.advance(90);
  timer.arm(100);
  clock.advance(99);
  await turns();
  expect(looks).toEqual([]);
  clock.advance(1);
  await turns();
  expect(looks).toEqual([0]);
});

test('may be armed from within the look', async () => {
  const clock = new ManualClock();
  const wire = openWire({ clock });
  onTestFinished(() => wire[Symbol.asyncDispose]());
  let looks = 0;
  using timer: QuietTimer = new QuietTimer(wire.terminal, () => {
    looks += 1;
    if (looks < 3) timer.arm(10);
  });
  timer.arm(10);
  for (let round = 0; round < 5; round++) {
    clock.advance(10);
    await turns();
  }
  expect([looks, timer.armed]).toEqual([3, false]);
});

test('output that lies unread is there before it looks', async () => {
  const { clock, channel, timer, looks } = setUp(() => channel.say(Buffer.from('late')));
  timer.arm(100);
  clock.advance(100);
  await turns();
  expect(looks).toEqual([4]);
});

test('a far side that takes its time is waited for, and a timer that was let go meanwhile looks no more', async () => {
  const fetched = deferred();
  const { clock, timer, looks } = setUp(() => fetched.promise);
  timer.arm(100);
  clock.advance(100);
  await turns();
  expect([timer.armed, looks]).toEqual([true, []]);
  timer[Symbol.dispose]();
  fetched.resolve();
  await turns();
  expect(looks).toEqual([]);
});

test.each([
  ['throws', () => void fail()],
  ['rejects', async () => fail()],
])('a far side that %s when it is asked does not keep it from looking', async (_, flush) => {
  const { clock, timer, looks } = setUp(flush);
  timer.arm(100);
  clock.advance(100);
  await turns();
  expect([timer.armed, looks]).toEqual([false, [0]]);
});

test('let go, it leaves no timer behind', async () => {
  const { clock, timer, looks } = setUp();
  const before = clock.timers;
  timer.arm(100);
  expect(clock.timers).toBe(before + 1);
  timer[Symbol.dispose]();
  expect(clock.timers).toBe(before);
  clock.advance(100);
  await turns();
  expect(looks).toEqual([]);
});

function fail(): never {
  throw new Error('It is gone.');
}
