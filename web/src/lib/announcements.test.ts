import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Announcements } from './announcements.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('at most one message in two seconds; the rest is folded', () => {
  const said: string[] = [];
  const announcements = new Announcements((text) => said.push(text));
  announcements.add('Needs you: sudo on ci-2 asks for a password. 1 waiting.');
  expect(said).toHaveLength(1);
  for (const host of ['a', 'b', 'c', 'd']) announcements.add(`Needs you: ${host}. 2 waiting.`);
  vi.advanceTimersByTime(1999);
  expect(said).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(said.slice(1)).toEqual(['4 more need you.']);
  announcements.add('Saved.');
  announcements.add('Copied.');
  vi.advanceTimersByTime(2000);
  expect(said.slice(2)).toEqual(['Copied. 1 more before it.']);
  vi.advanceTimersByTime(10_000);
  announcements.add('Back.');
  expect(said.at(-1)).toBe('Back.');
  expect(said).toHaveLength(4);
});
