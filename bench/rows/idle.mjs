import { setTimeout as delay } from 'node:timers/promises';
import { ownCpuMs } from '../lib/measure.mjs';

export const order = 100;
export const name = '200 idle terminals';
export const bar = { 'CPU of one core': { atMost: 0.01 } };

/** Shells at their prompts, after they have gone to sleep. */
export async function run(bench) {
  const count = bench.pick(200, 20);
  const product = await bench.product();
  const terminals = [];
  for (let i = 0; i < count; i++) terminals.push(await product.open(['/bin/sh', '-i']));
  const asleep = () => terminals.every(({ log, screen }) => log.end > 0 && screen.state !== 'live');
  const limit = performance.now() + bench.pick(60_000, 500);
  while (!asleep() && performance.now() < limit) await delay(250);
  if (!bench.quick && !asleep()) throw new Error('The terminals are still awake after a minute.');
  globalThis.gc();
  await delay(bench.pick(2000, 100));
  const seconds = bench.pick(15, 1);
  const cpu = ownCpuMs();
  await delay(seconds * 1000);
  const ms = ownCpuMs() - cpu;
  const detail = `${ms.toFixed(2)} ms in ${seconds} s with ${count} shells`;
  return { 'CPU of one core': { value: ms / (seconds * 10), unit: '%', detail } };
}
