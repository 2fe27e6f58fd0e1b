import { expect, test } from 'vitest';
import { inTurn } from './turns.ts';

const never = new AbortController().signal;

test('work that becomes ready at once is done one piece to a turn of the loop, in order', async () => {
  const done: number[] = [];
  let most = 0;
  let sinceTurn = 0;
  let counting = true;
  const count = (): void => {
    sinceTurn = 0;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const work = Array.from({ length: 50 }, async (_, at) => {
    await inTurn(never);
    done.push(at);
    sinceTurn += 1;
    most = Math.max(most, sinceTurn);
  });
  await Promise.all(work);
  counting = false;
  expect(done).toEqual(Array.from({ length: 50 }, (_, at) => at));
  expect(most).toBeLessThanOrEqual(2);
});

test('alone, nothing is waited for; given up while waiting, the next one still gets its turn', async () => {
  // The turn after the last piece of work before this is over.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(await inTurn(never)).toBe(false);
  const gone = new AbortController();
  const second = inTurn(gone.signal);
  const third = inTurn(never);
  gone.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  expect(await third).toBe(true);
});
