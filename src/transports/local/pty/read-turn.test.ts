import { expect, test } from 'vitest';
import { ReadTurn } from './read-turn.ts';

const loopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('fifty terminals share the time of one: each has an equal part of the turn', async () => {
  let now = 100;
  const turn = new ReadTurn(() => now);
  for (let n = 0; n < 50; n += 1) turn.next();
  await loopTurn();
  now = 200;
  const ends = Array.from({ length: 50 }, () => turn.next() - now);
  expect(ends[0]).toBeCloseTo(16 / 50);
  expect(ends[24]).toBeCloseTo(8);
  expect(ends[49]).toBeCloseTo(16);
});

test('a terminal that prints alone has the whole turn, also after others have printed', async () => {
  let now = 0;
  const turn = new ReadTurn(() => now);
  expect(turn.next()).toBe(16);
  for (let n = 0; n < 9; n += 1) turn.next();
  await loopTurn();
  turn.next();
  await loopTurn();
  now = 50;
  expect(turn.next()).toBe(66);
});
