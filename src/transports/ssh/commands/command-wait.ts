import type { Clock } from '../../../lib/clock.ts';

/**
 * True when the promise settled in time, false when time ran out. Rejects only when the signal is aborted. Leaves neither
 * timer nor listener behind.
 */
export function settlesWithin(
  promise: Promise<unknown>,
  ms: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const abort = (): void => done(() => reject(signal?.reason as Error));
    const timer = clock.after(ms, () => done(() => resolve(false)));
    const done = (settle: () => void): void => {
      timer[Symbol.dispose]();
      signal?.removeEventListener('abort', abort);
      settle();
    };
    signal?.addEventListener('abort', abort, { once: true });
    const settled = (): void => done(() => resolve(true));
    promise.then(settled, settled);
  });
}
