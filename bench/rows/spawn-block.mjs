import { freemem } from 'node:os';
import { percentile } from '../lib/measure.mjs';
import * as nodePty from '../peers/node-pty.mjs';

export const order = 90;
export const name = 'one spawn in a large process';
export const bar = { 'p50 of the block at 2 GB RSS': { atMost: 1 } };

/** How long opening a terminal keeps the event loop from everybody else. */
export async function run(bench) {
  const megabytes = bench.pick(2048, 64);
  if (freemem() < (megabytes + 512) * 2 ** 20) {
    return { 'p50 of the block at 2 GB RSS': { skipped: `less than ${megabytes + 512} MB of memory is free` } };
  }
  // Written to, or the system would only promise the memory.
  const ballast = Array.from({ length: megabytes / 64 }, () => Buffer.alloc(64 << 20, 1));
  const product = await bench.product();
  const ours = [];
  const theirs = [];
  for (let i = 0; i < bench.pick(40, 5); i++) {
    ours.push(await timed(() => product.channel(['true'])));
    if (nodePty.available && i % 8 === 0) theirs.push(await timed(async () => ending(nodePty.spawn(['true']))));
  }
  const rss = process.memoryUsage.rss() / 2 ** 20;
  const [p50, worst] = [percentile(ours, 0.5), Math.max(...ours)];
  const beside = theirs.length > 0 ? `, node-pty p50 ${percentile(theirs, 0.5).toFixed(1)}` : '';
  const detail = `worst ${worst.toFixed(1)} ms${beside}, at ${rss.toFixed(0)} MB`;
  return { 'p50 of the block at 2 GB RSS': { value: ballast.length > 0 ? p50 : undefined, unit: 'ms', detail } };
}

async function timed(open) {
  const began = performance.now();
  // Nothing but this turn of the event loop: opening waits for no event.
  const opened = await open();
  const ms = performance.now() - began;
  await opened.ended;
  await opened[Symbol.asyncDispose]?.();
  return ms;
}

const ending = (child) => ({ ended: new Promise((resolve) => child.onExit(resolve)) });
