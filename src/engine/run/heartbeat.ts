import type { Terminal } from '../terminal/terminal.ts';
import { timings } from '../waiting/timings.ts';

const { heartbeatMs } = timings.run;

/** Reports progress every few seconds until it is disposed. */
export function heartbeat(
  { clock }: Terminal,
  sinceMs: number,
  doing: string,
  progress: (message: string) => void,
): Disposable {
  const beat = (): void => {
    timer = clock.after(heartbeatMs, beat);
    progress(`${doing} for ${Math.round((clock.monotonic() - sinceMs) / 1000)} s`);
  };
  let timer = clock.after(heartbeatMs, beat);
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
