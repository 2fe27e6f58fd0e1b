import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { env } from '../lib/setting.mjs';
import { interleave, percentile } from '../lib/measure.mjs';

export const order = 30;
export const name = 'reading a flood';
export const bar = { 'speed vs a C reader': { atLeast: 0.95 } };

/** The PTY alone: bytes out of it, from before the program starts until it has ended. */
export async function run(bench) {
  const file = bench.flood('plain', bench.pick(32, 2));
  const reader = bench.compiled('read-pty');
  const product = await bench.product();
  const execute = promisify(execFile);

  // Where the kernel puts the writer, its own worker and the reader makes a factor of two from one run to the next, for C too. The
  // best of many is then the luckiest; a quarter of the runs are as good as what is compared here, or better.
  const results = await interleave(bench.rounds * 8, {
    ours: async () => {
      const began = performance.now();
      const channel = await product.channel(['cat', file]);
      let bytes = 0;
      // As the engine reads.
      await channel.output.consume((chunk) => {
        bytes += chunk.length;
      });
      await channel.ended;
      const ms = performance.now() - began;
      await channel[Symbol.asyncDispose]();
      return { ms, bytes };
    },
    c: async () => {
      const { stdout } = await execute(reader, ['cat', file], { env });
      const [ns, bytes] = stdout.split(' ').map(Number);
      return { ms: ns / 1e6, bytes };
    },
  });
  if (results.ours[0].bytes !== results.c[0].bytes) throw new Error('The two readers saw different output.');
  const [ours, c] = [results.ours, results.c].map((runs) =>
    percentile(
      runs.map(({ ms }) => ms),
      0.25,
    ),
  );
  return { 'speed vs a C reader': { value: c / ours, detail: `${ours.toFixed(0)} ms, C ${c.toFixed(0)} ms` } };
}
