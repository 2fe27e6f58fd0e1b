import { setImmediate as nextTurn } from 'node:timers/promises';

/** Call it often in long work: yields to the event loop when due, and throws once the caller is gone. */
export type Pause = () => Promise<void>;

/** How long work may hold the event loop. */
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
 * Waits until the event loop has turned since the previous caller's work: many calls that become ready at once still let
 * timers, signals and input through between them. Returns whether it waited.
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
