import type { Clock } from '../lib/clock.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    // setTimeout wraps around beyond 2^31 - 1 ms and would fire at once.
    const timer = setTimeout(run, Math.min(ms, 0x7fffffff));
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};
