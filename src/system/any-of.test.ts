import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { anyOf } from './any-of.ts';

test('the first source to stop gives its reason', () => {
  const [one, two] = [new AbortController(), new AbortController()];
  using either = anyOf(one.signal, two.signal);
  expect(either.signal.aborted).toBe(false);
  two.abort('two');
  one.abort('one');
  expect(either.signal.reason).toBe('two');
});

test('a source that has stopped already counts', () => {
  using either = anyOf(new AbortController().signal, AbortSignal.abort('early'));
  expect(either.signal.reason).toBe('early');
});

test('once disposed it leaves nothing behind on its sources', () => {
  const source = new AbortController();
  const followed = anyOf(source.signal);
  followed[Symbol.dispose]();
  expect(getEventListeners(source.signal, 'abort')).toEqual([]);
  source.abort();
  expect(followed.signal.aborted).toBe(false);
});
