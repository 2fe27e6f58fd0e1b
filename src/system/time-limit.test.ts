import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { timeLimit } from './time-limit.ts';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('the time is up, whatever garbage was collected meanwhile', async () => {
  using limit = timeLimit(new AbortController().signal, 50);
  const stopped = once(limit.signal, 'abort');
  // Not in the turn that made it: what is reachable from the stack would stay.
  await new Promise((resolve) => setTimeout(resolve, 5));
  collectGarbage();
  await stopped;
  expect(limit.signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('it stops with the other signal, and with its reason', () => {
  const caller = new AbortController();
  using limit = timeLimit(caller.signal, 60_000);
  caller.abort('gone');
  expect(limit.signal.reason).toBe('gone');
});
