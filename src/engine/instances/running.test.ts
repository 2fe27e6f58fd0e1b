import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual.ts';
import { Lateness } from './running.ts';

test('a delay is told for one to two minutes, whether anybody asks meanwhile or not', () => {
  const clock = new ManualClock();
  const delay = { max: 0, enable: () => true, disable: () => true, reset: () => void (delay.max = 0) };
  const lateness = new Lateness(clock, delay);
  delay.max = 800e6;
  expect(lateness.worstMs).toBe(700);
  clock.advance(60_000);
  expect(lateness.worstMs).toBe(700);
  delay.max = 400e6;
  clock.advance(60_000);
  expect(lateness.worstMs).toBe(300);
  delay.max = 900e6;
  clock.advance(120_000);
  expect(lateness.worstMs).toBe(0);
  lateness[Symbol.dispose]();
  expect(clock.timers).toBe(0);
});
