// Clocks, counters and a little statistics.
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * A B A B …: each contender once per round, so that a busy minute of the machine hits all of them. No garbage collection is forced in
 * between: it also throws compiled code away, which no server ever does, and what follows would measure the compiler.
 * @template T @param {number} rounds @param {Record<string, () => Promise<T>>} contenders
 * @returns {Promise<Record<string, T[]>>}
 */
export async function interleave(rounds, contenders) {
  const results = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(contenders)) results[name].push(await run());
  }
  return results;
}

/** The smallest, of numbers or of one field of objects: noise only ever adds. */
export function best(results, field) {
  return Math.min(...results.map((result) => (field === undefined ? result : result[field])));
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** How long it took the median of so many, one after the other. */
export async function medianMs(count, once) {
  const times = [];
  for (let n = 0; n < count; n++) {
    const began = performance.now();
    await once();
    times.push(performance.now() - began);
  }
  return percentile(times, 0.5);
}

/** CPU time of another process so far, in ms. Of one with a single thread. */
export function cpuMsOf(pid) {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** CPU time of this process so far, all its threads, in ms. */
export function ownCpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Starts watching the event loop; the answer stops it and tells how late it ever was, in ms. */
export function watchLoop() {
  const resolution = 1;
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  return () => {
    delays.disable();
    return Math.max(0, delays.max / 1e6 - resolution);
  };
}

export const nowNs = () => Number(process.hrtime.bigint());
