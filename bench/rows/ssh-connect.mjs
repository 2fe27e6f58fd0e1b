import { best, interleave } from '../lib/measure.mjs';
import { never } from '../lib/product.mjs';

export const order = 200;
export const name = 'connect over SSH and run `true`';
export const bar = { 'vs `ssh host true`': { atMost: 0.35 } };

/** From nothing to the exit code, and the connection closed again. */
export async function run(bench) {
  const sshd = await bench.sshd(quietShell);
  const connector = await sshd.connector(bench);
  const results = await interleave(bench.pick(20, 3), {
    ours: async () => {
      const began = performance.now();
      const { link } = await connector.connect(sshd.request(), never);
      const process = await link.exec('true', {}, never);
      const ended = await process.ended;
      await link[Symbol.asyncDispose]();
      if (ended.code !== 0) throw new Error(`Ended with ${JSON.stringify(ended)}.`);
      return performance.now() - began;
    },
    theirs: async () => {
      const began = performance.now();
      await sshd.ssh('true');
      return performance.now() - began;
    },
  });
  const [ours, theirs] = [best(results.ours), best(results.theirs)];
  return {
    'vs `ssh host true`': { value: ours / theirs, detail: `${ours.toFixed(1)} ms, ssh ${theirs.toFixed(1)} ms` },
  };
}

/** Nobody's .bashrc takes part: it would hide the difference. */
const quietShell = ['SetEnv HOME=/nonexistent'];
