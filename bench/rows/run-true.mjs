import { join } from 'node:path';
import { bareShell } from '../lib/bare-shell.mjs';
import { best, interleave, medianMs } from '../lib/measure.mjs';
import { never } from '../lib/product.mjs';
import { env, size } from '../lib/setting.mjs';

export const order = 75;
export const name = 'run `true` and know its exit code';
export const bar = { 'vs the same shell in a bare PTY': { atMost: 2 } };

/** From the command's Enter to the exit code, against Enter to the last byte of the next prompt. */
export async function run(bench) {
  const commands = bench.pick(200, 10);
  const product = await bench.product();
  const [{ Engine }, { localTransport }, { runCommand }] = await Promise.all([
    bench.load('engine/engine'),
    bench.load('transports/local/transport'),
    bench.load('engine/run/run'),
  ]);
  const transport = localTransport({
    root: join(bench.folder, 'home'),
    shell: 'bash',
    cwd: '/',
    env,
    extraEnv: {},
    integration: true,
  });
  const engine = bench.own(
    new Engine({
      transports: [transport],
      size,
      scrollback: 1000,
      sessions: { maxSessions: 5, idleTimeout: 0 },
      recordings: { dir: bench.folder, idleTimeLimit: 2, maxDuration: 0, inactivityTimeout: 0 },
      picturesDir: bench.folder,
    }),
  );
  const terminal = await engine.sessions.default(never);
  const integrated = await transport.open({ target: 'local', size, terminalId: 'bare' }, never);
  const marked = await bareShell(integrated.channel, /\x1b\]133;B[^\x07]*\x07$/);
  const plain = await bareShell(await product.channel(['bash', '--norc', '--noprofile', '-i']), /\$ $/);
  bench.own({
    async [Symbol.asyncDispose]() {
      await integrated.channel[Symbol.asyncDispose]();
      integrated.release?.();
      await plain.channel[Symbol.asyncDispose]();
    },
  });
  const contenders = {
    ours: async () => {
      const { exitCode, evidence } = await runCommand(
        terminal,
        { command: 'true', timeoutMs: 10_000, by: 'bench' },
        never,
      );
      if (exitCode !== 0 || evidence !== 'mark') throw new Error(`Got ${exitCode} by ${evidence}.`);
    },
    marked: () => marked.line('true'),
    plain: () => plain.line('true'),
  };
  const results = await interleave(
    bench.rounds,
    Object.fromEntries(Object.entries(contenders).map(([who, once]) => [who, () => medianMs(commands, once)])),
  );
  const [ours, same, without] = [best(results.ours), best(results.marked), best(results.plain)];
  return {
    'vs the same shell in a bare PTY': {
      value: ours / same,
      detail: `${ours.toFixed(2)} ms, shell ${same.toFixed(2)} ms, without integration ${without.toFixed(2)} ms`,
    },
  };
}
