import { best, interleave, percentile } from '../lib/measure.mjs';
import { never } from '../lib/product.mjs';

export const order = 202;
export const name = 'a command on an open SSH connection';
export const bar = { 'p50 vs ssh through a ControlMaster': { atMost: 0.3 } };

export async function run(bench) {
  const sshd = await bench.sshd(['SetEnv HOME=/nonexistent']);
  const { link } = await (await sshd.connector(bench)).connect(sshd.request(), never);
  bench.own(link);
  const master = bench.own(await sshd.master());
  const median = async (count, once) => {
    const times = [];
    for (let n = 0; n < count; n++) {
      const began = performance.now();
      await once();
      times.push(performance.now() - began);
    }
    return percentile(times, 0.5);
  };
  const results = await interleave(bench.rounds, {
    ours: () => median(bench.pick(200, 10), async () => await (await link.exec('true', {}, never)).ended),
    theirs: () => median(bench.pick(50, 5), () => master.ssh('true')),
  });
  const [ours, theirs] = [best(results.ours), best(results.theirs)];
  return {
    'p50 vs ssh through a ControlMaster': {
      value: ours / theirs,
      detail: `${ours.toFixed(2)} ms, ssh ${theirs.toFixed(2)} ms`,
    },
  };
}
