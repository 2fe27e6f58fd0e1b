import { systemClock } from '../../../src/system/clock.ts';
import type { Clock } from '../../../src/lib/clock.ts';

export interface PatientClock extends Clock {
  /** What waits until the test says so, and how long it would have waited. */
  readonly long: Map<() => void, number>;
  /** It is so much later at once; what was due meanwhile is not done. */
  jump(ms: number): void;
}

/** The time of this machine, but whoever wants to wait for at least so long waits until the test says so. */
export function patientClock(atLeastMs = 120_000): PatientClock {
  const long = new Map<() => void, number>();
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic() + ahead,
    jump: (ms) => void (ahead += ms),
    long,
    after(ms, run) {
      if (ms < atLeastMs) return systemClock.after(ms, run);
      // The same callback may be there twice, and each ends by itself.
      const once = (): void => run();
      long.set(once, ms);
      return { [Symbol.dispose]: () => void long.delete(once) };
    },
  };
}
