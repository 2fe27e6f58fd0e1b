import { writeFileSync } from 'node:fs';
import * as nodePty from '../peers/node-pty.mjs';

export const order = 10;
export const name = 'bytes lost at exit';
export const bar = { 'exits that lost bytes': { atMost: 0 } };

const largest = 200 * 1024;
/** At one time: they also get in each other's way. */
const lanes = 4;

/** Programs that print 1 to 200 KB and are gone; node-pty beside us, with a tenth as many. */
export async function run(bench) {
  const exits = bench.pick(2500, 60);
  const file = bench.path('letters');
  writeFileSync(file, 'abcdefgh'.repeat(largest / 8));
  const product = await bench.product();
  const argv = (bytes) => ['head', '-c', String(bytes), file];

  const ours = async (bytes) => {
    const terminal = await product.open(argv(bytes));
    await terminal.whenEnded;
    const lost = bytes - terminal.log.end;
    await terminal[Symbol.asyncDispose]();
    return lost;
  };
  const theirs = async (bytes) => bytes - (await nodePty.countBytes(argv(bytes)));

  const losses = await inLanes(exits, ours);
  const peer = nodePty.available ? (await inLanes(Math.ceil(exits / 10), theirs)).length : undefined;
  const beside = peer === undefined ? '' : `; node-pty ${peer} of ${Math.ceil(exits / 10)}`;
  return {
    'exits that lost bytes': { value: losses.length, unit: '', detail: `of ${exits}, ${sum(losses)} bytes${beside}` },
  };
}

/** What was lost, of those that lost something. */
async function inLanes(exits, one) {
  const losses = [];
  let next = 0;
  const lane = async () => {
    while (next < exits) {
      const bytes = 1024 + ((next++ * 7919) % (largest - 1024));
      const lost = await one(bytes);
      if (lost !== 0) losses.push(lost);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return losses;
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
