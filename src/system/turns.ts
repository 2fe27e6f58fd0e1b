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

let last: Promise<void> | undefined;

/**
 * Waits until the loop has turned since the work of whoever asked before: many calls that become ready at once still
 * let timers, signals and input through between them. Says whether there was anything to wait for.
 */
export async function inTurn(signal: AbortSignal): Promise<boolean> {
  const before = last;
  const mine = turnAfter(before).finally(() => {
    if (last === mine) last = undefined;
  });
  last = mine;
  await before;
  signal.throwIfAborted();
  return before !== undefined;
}

async function turnAfter(before: Promise<void> | undefined): Promise<void> {
  await before;
  await nextTurn();
}
