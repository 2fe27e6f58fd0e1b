import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/clocks/manual.ts';
import { syncAll } from './sync-all.ts';

const never = { sync: (): Promise<void> => new Promise(() => {}) };
const cancelled = {
  sync: (signal: AbortSignal): Promise<void> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled')))),
};

test('a screen that is never up to date holds a list up for a moment only', async () => {
  const clock = new ManualClock();
  let synced = 0;
  const quick = { sync: async () => void (synced += 1) };
  const done = syncAll([never, quick, cancelled, quick], clock, new AbortController().signal);
  await expect.poll(() => synced).toBe(2);
  clock.advance(100);
  await done;
  expect(clock.timers).toBe(0);
});

test('many screens that take long to bring up to date leave the loop its turns, and are left out when time is up', async () => {
  const clock = new ManualClock();
  let synced = 0;
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (turns === 3) clock.advance(100);
    else setImmediate(count);
  };
  setImmediate(count);
  const slow = {
    sync: async () => {
      synced += 1;
      for (const until = performance.now() + 10; performance.now() < until; );
    },
  };
  await syncAll(Array(50).fill(slow), clock, new AbortController().signal);
  expect(turns).toBe(3);
  expect(synced).toBeLessThan(10);
});

test('a mistake and a caller who leaves are told', async () => {
  const broken = { sync: () => Promise.reject(new Error('broken')) };
  const clock = new ManualClock();
  await expect(syncAll([broken], clock, new AbortController().signal)).rejects.toThrow('broken');
  const leaving = new AbortController();
  const left = syncAll([never], clock, leaving.signal);
  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
});
