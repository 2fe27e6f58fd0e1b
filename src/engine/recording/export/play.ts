import type { Clock } from '../../../lib/clock.ts';
import type { CastEvent } from '../cast/cast-reader.ts';

interface PlayOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** 2 plays twice as fast. */
  readonly speed?: number;
  /** No pause in the cast is longer than so many seconds. */
  readonly idleLimit?: number;
  /** What comes before this second of the cast is shown at once. */
  readonly from?: number;
}

/** The output of a cast at its pace. Ends early, without an error, when the signal says so. */
export async function* playCast(
  events: AsyncIterable<CastEvent>,
  { clock, signal, speed = 1, idleLimit = 0, from = 0 }: PlayOptions,
): AsyncGenerator<string, void, undefined> {
  const start = clock.monotonic();
  let last = from * 1000;
  let playedMs = 0;
  // The clock's timers do not keep the process alive; during a pause of the cast this one must.
  const alive = setInterval(() => {}, 60_000);
  try {
    for await (const event of events) {
      const gap = Math.max(0, event.atMs - last);
      last = Math.max(last, event.atMs);
      playedMs += (idleLimit > 0 ? Math.min(gap, idleLimit * 1000) : gap) / speed;
      if (event.code !== 'o') continue;
      // Relative to the start, so that late timers do not add up.
      await pause(start + playedMs - clock.monotonic(), clock, signal);
      if (signal.aborted) return;
      yield event.data;
    }
  } finally {
    clearInterval(alive);
  }
}

async function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      timer[Symbol.dispose]();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal.addEventListener('abort', done);
  });
}
