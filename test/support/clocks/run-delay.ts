import { readFileSync } from 'node:fs';

/** Fine enough for limits of a second or two. */
const lookMs = 10;

/**
 * How long a process, or the one that watches it, has been ready to run since then and got no core, in ms: what is done in a
 * given time takes at least as much longer on a busy machine. Zero where the system does not tell.
 */
export function runDelay(pid: number): () => number {
  const own = delayOf(process.pid) ?? 0;
  const before = delayOf(pid) ?? 0;
  let last = before;
  // A process that has ended tells nothing more.
  const look = (): void => {
    last = delayOf(pid) ?? last;
  };
  const looking = setInterval(look, lookMs);
  return () => {
    look();
    clearInterval(looking);
    return Math.max(last - before, (delayOf(process.pid) ?? 0) - own);
  };
}

function delayOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return undefined;
  }
}
