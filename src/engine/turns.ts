import { setImmediate as nextTurn } from 'node:timers/promises';

/** Called often in long work: gives the loop a turn when the work held it long enough, and ends it when nobody waits. */
export type Pause = () => Promise<void>;

/** How long work may hold the loop before others get a turn. */
const sliceMs = 8;

export function pauses(signal: AbortSignal): Pause {
  signal.throwIfAborted();
  let sliceEnd = performance.now() + sliceMs;
  return async () => {
    if (performance.now() < sliceEnd) return;
    await nextTurn();
    signal.throwIfAborted();
    sliceEnd = performance.now() + sliceMs;
  };
}
