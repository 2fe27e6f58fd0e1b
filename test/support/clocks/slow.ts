import { systemClock } from '../../../src/system/clock.ts';
import type { Clock } from '../../../src/lib/clock.ts';

const times = 5;

/** The time of the system, five times slower: a limit the test is not about holds on a machine that is busy, too. */
export const slowClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() / times,
  after: (ms, run) => systemClock.after(ms * times, run),
};
