import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from './on-abort.ts';

test('many wait for one signal with one listener; who no longer waits is not called', () => {
  const controller = new AbortController();
  const called: number[] = [];
  const all = Array.from({ length: 50 }, (_, at) => onAbort(controller.signal, () => called.push(at)));
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  for (const one of all.slice(1)) one[Symbol.dispose]();
  controller.abort();
  expect(called).toEqual([0]);
  onAbort(controller.signal, () => called.push(99));
  expect(called).toEqual([0, 99]);
});
