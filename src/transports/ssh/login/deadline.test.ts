import { expect, test } from 'vitest';
import { deferred } from '../../../lib/deferred.ts';
import { Deadline } from './deadline.ts';

test('a question that ends after everything else arms nothing', async () => {
  const armed = new Set<object>();
  const after = (): Disposable => {
    const timer = { [Symbol.dispose]: () => void armed.delete(timer) };
    armed.add(timer);
    return timer;
  };
  const deadline = new Deadline({ now: () => 0, monotonic: () => 0, after }, 1000);
  const answer = deferred<string>();
  const asking = deadline.pausedFor(() => answer.promise);
  expect(armed.size).toBe(0);
  deadline[Symbol.dispose]();
  answer.resolve('late');
  expect(await asking).toBe('late');
  expect(armed.size).toBe(0);
});
