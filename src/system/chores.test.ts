import { expect, test } from 'vitest';
import { Chores } from './chores.ts';

const loopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('chores that become due at once are done a few in a turn of the loop, in order', async () => {
  let now = 0;
  const chores = new Chores(() => now);
  const done: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    chores.add(() => {
      done.push(n);
      now += 2;
    });
  }
  expect(done).toEqual([]);
  await loopTurn();
  expect(done).toEqual([0, 1]);
  await loopTurn();
  expect(done).toEqual([0, 1, 2, 3]);
  await loopTurn();
  expect(done).toEqual([0, 1, 2, 3, 4]);
});

test('a chore that is taken back is not done', async () => {
  const chores = new Chores();
  let done = 0;
  const first = chores.add(() => void (done += 1));
  chores.add(() => void (done += 10));
  first[Symbol.dispose]();
  await loopTurn();
  expect(done).toBe(10);
});
