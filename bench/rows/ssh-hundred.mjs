import { best, interleave } from '../lib/measure.mjs';

export const order = 210;
export const name = '100 commands at once over SSH';
export const bar = {
  'time vs ssh through a ControlMaster': { atMost: 0.3 },
  failures: { atMost: 0 },
};

/** A server with the usual ten sessions a connection, from the first request until the last command has ended. */
export async function run(bench) {
  const count = bench.pick(100, 20);
  const sshd = await bench.sshd(['MaxSessions 10']);
  const [{ Ssh }, { defaultSshSettings }, { systemClock }] = await Promise.all([
    bench.load('transports/ssh/index'),
    bench.load('transports/ssh/settings'),
    bench.load('system/clock'),
  ]);
  const connector = await sshd.connector(bench);
  const ssh = bench.own(new Ssh({ settings: defaultSshSettings, connector, clock: systemClock }));
  const never = AbortSignal.timeout(600_000);
  let failures = 0;
  let theirFailures = 0;

  const results = await interleave(bench.pick(3, 1), {
    // Every round with a new session, which has yet to learn what the server gives.
    ours: async () => {
      const { session } = await ssh.sessions.connect({ ...sshd.request(), reuse: 'force_new' }, 'bench', never);
      const began = performance.now();
      await Promise.all(
        Array.from({ length: count }, async () => {
          const process = await session.exec('true', {}, AbortSignal.timeout(60_000)).catch(() => undefined);
          const ended = process && (await Promise.all([process.ended, skip(process.stdout), skip(process.stderr)]))[0];
          if (ended?.by !== 'exit' || ended.code !== 0) failures += 1;
        }),
      );
      const ms = performance.now() - began;
      await session.end({ by: 'disconnect' });
      return ms;
    },
    theirs: async () => {
      const master = bench.own(await sshd.master());
      const began = performance.now();
      await Promise.all(Array.from({ length: count }, () => master.ssh('true').catch(() => (theirFailures += 1))));
      const ms = performance.now() - began;
      await master[Symbol.asyncDispose]();
      return ms;
    },
  });
  const [ours, theirs] = [best(results.ours), best(results.theirs)];
  return {
    'time vs ssh through a ControlMaster': {
      value: ours / theirs,
      detail: `${ours.toFixed(0)} ms, ssh ${theirs.toFixed(0)} ms with ${theirFailures} failures`,
    },
    failures: { value: failures, unit: '', detail: `of ${count * results.ours.length}` },
  };
}

async function skip(stream) {
  for await (const _ of stream);
}
