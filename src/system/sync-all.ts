import type { Clock } from '../lib/clock.ts';
import { deferred } from '../lib/deferred.ts';
import { onAbort } from './on-abort.ts';
import { pauses } from './turns.ts';

interface Syncing {
  sync(signal: AbortSignal): Promise<void>;
}

/** A list of terminals is worth no longer wait: fifty floods are never all up to date. */
const mostMs = 100;

/** Brings all screens up to date within a short time limit. A late screen is shown as it is. */
export async function syncAll(terminals: readonly Syncing[], clock: Clock, signal: AbortSignal): Promise<void> {
  const late = new AbortController();
  const over = deferred();
  const end = (): void => {
    late.abort();
    over.resolve();
  };
  using _timer = clock.after(mostMs, end);
  using _caller = onAbort(signal, end);
  const pause = pauses(signal);
  const syncing: Promise<void>[] = [];
  for (const terminal of terminals) {
    if (late.signal.aborted) break;
    const one = terminal.sync(late.signal).catch((thrown: unknown) => unlessLate(late.signal, thrown));
    // Its error is rethrown below, once all have begun.
    one.catch(() => {});
    syncing.push(one);
    await pause();
  }
  await Promise.race([Promise.all(syncing), over.promise]);
  signal.throwIfAborted();
}

function unlessLate(late: AbortSignal, thrown: unknown): void {
  if (!late.aborted) throw thrown;
}
