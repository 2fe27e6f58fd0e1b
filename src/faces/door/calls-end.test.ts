import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { anyOf } from '../../system/any-of.ts';
import { CallsEnd } from './calls-end.ts';

test('many calls at once are no leak: no warning, and no listener stays', async () => {
  const warned = vi.fn<() => void>();
  process.on('warning', warned);
  const ending = new CallsEnd();
  const calls = Array.from({ length: 100 }, () => anyOf(ending.signal, new AbortController().signal));
  expect(getEventListeners(ending.signal, 'abort')).toHaveLength(100);
  for (const call of calls) call[Symbol.dispose]();
  expect(getEventListeners(ending.signal, 'abort')).toHaveLength(0);
  await nextTurn();
  process.off('warning', warned);
  expect(warned).not.toHaveBeenCalled();
});

test('waits for the calls under way, whether they succeed or fail, but not for ever', async () => {
  const ending = new CallsEnd();
  const stopped = new Promise<string>((_, reject) => {
    ending.signal.addEventListener('abort', () => reject(ending.signal.reason as Error), { once: true });
  });
  const call = ending.attend(stopped);
  ending.begin('The end.');
  await Promise.all([expect(call).rejects.toThrow('The end.'), ending.answered(60_000)]);
  void ending.attend(new Promise(() => {}));
  await ending.answered(1);
  expect(ending.underWay).toBe(1);
});
