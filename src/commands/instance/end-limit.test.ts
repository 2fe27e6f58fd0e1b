import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EndLimit } from './end-limit.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function begun() {
  const cut = vi.fn<() => void>();
  const limit = new EndLimit(cut);
  limit.begin();
  return { cut, limit };
}

test('R-TERM-140: an end that hangs is cut short within 2 s of its beginning', () => {
  const { cut, limit } = begun();
  vi.advanceTimersByTime(1000);
  limit.begin();
  expect(limit.leftMs).toBe(700);
  vi.advanceTimersByTime(799);
  expect(cut).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(cut).toHaveBeenCalledOnce();
});

test('R-TERM-142: it may take longer while the client takes its last answers, but not for ever', () => {
  const { cut, limit } = begun();
  for (let seconds = 0; seconds < 59; seconds++) {
    vi.advanceTimersByTime(1000);
    limit.goOn();
  }
  expect(cut).not.toHaveBeenCalled();
  expect(limit.leftMs).toBe(0);
  vi.advanceTimersByTime(1000);
  expect(cut).toHaveBeenCalledOnce();
});

test('R-TERM-142: a client that stops in the middle is waited for a little more than 2 s', () => {
  const { cut, limit } = begun();
  vi.advanceTimersByTime(1000);
  limit.goOn();
  vi.advanceTimersByTime(2100);
  expect(cut).not.toHaveBeenCalled();
  vi.advanceTimersByTime(100);
  expect(cut).toHaveBeenCalledOnce();
});
