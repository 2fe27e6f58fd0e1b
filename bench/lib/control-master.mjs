import { best, interleave, medianMs } from './measure.mjs';

/** `true` over SSH, again and again: ours beside OpenSSH's client with a connection that stays. */
export async function besideControlMaster(bench, sshd, ours) {
  const master = bench.own(await sshd.master());
  const results = await interleave(bench.rounds, {
    ours: () => medianMs(bench.pick(200, 10), ours),
    theirs: () => medianMs(bench.pick(50, 5), () => master.ssh('true')),
  });
  const [own, theirs] = [best(results.ours), best(results.theirs)];
  return {
    'p50 vs ssh through a ControlMaster': {
      value: own / theirs,
      detail: `${own.toFixed(2)} ms, ssh ${theirs.toFixed(2)} ms`,
    },
  };
}
