import { expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/clocks/manual.ts';
import { FeedSchedule } from './schedule.ts';

const loopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('work that never ends does not keep others from their turn', async () => {
  const clock = new ManualClock();
  const schedule = new FeedSchedule(clock);
  const seen: string[] = [];
  const job = (name: string, more: boolean) => ({
    turn: (deadline: number) => {
      seen.push(name);
      clock.advance(deadline - clock.monotonic());
      return more;
    },
  });
  const flood = job('flood', true);
  schedule.request(flood, 'soon');
  schedule.request(job('one', false), 'soon');
  schedule.request(job('two', false), 'soon');
  for (let i = 0; i < 4; i++) await loopTurn();
  expect(seen).toEqual(['flood', 'one', 'two', 'flood']);
  schedule.cancel(flood);
  await loopTurn();
  await loopTurn();
  expect(seen).toHaveLength(4);
});

test('a job asked for many times has one turn, and after it waits for the next batch', async () => {
  const clock = new ManualClock();
  const schedule = new FeedSchedule(clock);
  let turns = 0;
  const job = { turn: () => ++turns < 0 };
  for (let i = 0; i < 5; i++) schedule.request(job, 'soon');
  await loopTurn();
  for (let i = 0; i < 5; i++) schedule.request(job, 'soon');
  await loopTurn();
  expect(turns).toBe(1);
  clock.advance(16);
  await loopTurn();
  expect(turns).toBe(2);
  schedule.request(job, 'now');
  await loopTurn();
  expect(turns).toBe(3);
});

test('a batched job waits for its batch, however long it rested', async () => {
  const clock = new ManualClock();
  const schedule = new FeedSchedule(clock);
  let turns = 0;
  schedule.request({ turn: () => ++turns < 0 }, 'batched');
  await loopTurn();
  expect(turns).toBe(0);
  clock.advance(16);
  await loopTurn();
  expect(turns).toBe(1);
});

test('a job that a caller waits for goes before fifty floods, and does not stop them', async () => {
  const clock = new ManualClock();
  const schedule = new FeedSchedule(clock);
  const seen: string[] = [];
  const job = (name: string, more: () => boolean) => ({
    turn: (deadline: number) => {
      seen.push(name);
      clock.advance(deadline - clock.monotonic());
      return more();
    },
  });
  const floods = Array.from({ length: 50 }, (_, n) => job(`flood ${n}`, () => true));
  for (const flood of floods) schedule.request(flood, 'now');
  const asked = job('asked', () => {
    schedule.request(asked, 'first');
    return true;
  });
  schedule.request(asked, 'now');
  schedule.request(asked, 'first');
  await loopTurn();
  await loopTurn();
  expect(seen).toEqual(['asked', 'flood 0', 'asked', 'flood 1']);
  for (const one of [asked, ...floods]) schedule.cancel(one);
  await loopTurn();
  expect(seen).toHaveLength(4);
});
