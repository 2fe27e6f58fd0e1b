import { besideControlMaster } from '../lib/control-master.mjs';
import { never } from '../lib/product.mjs';
import { size } from '../lib/setting.mjs';

export const order = 204;
export const name = 'a command over SSH through the tools';
export const bar = { 'p50 vs ssh through a ControlMaster': { atMost: 0.3 } };

/** ssh_exec and ssh_exec_output(wait=true), as a face calls them: gate, audit, rings, idle clock and all. */
export async function run(bench) {
  const sshd = await bench.sshd(['SetEnv HOME=/nonexistent']);
  const ask = await tools(bench, await sshd.connector(bench));
  const { address, username, keyPath } = sshd.request();
  const { session_id } = await ask('connect', { address, username, key_path: keyPath });
  return await besideControlMaster(bench, sshd, async () => {
    const { command_id } = await ask('exec', { session_id, command: 'true' });
    const { exit_code } = await ask('execOutput', { command_id, wait: true });
    if (exit_code !== 0) throw new Error(`Got ${exit_code}.`);
  });
}

async function tools(bench, connector) {
  const [{ Engine }, { call }, { Ssh, ssh }, { defaultSshSettings }, { sshBook }] = await Promise.all([
    bench.load('engine/engine'),
    bench.load('engine/call/call'),
    bench.load('transports/ssh/index'),
    bench.load('transports/ssh/settings'),
    bench.load('operations/remote/index'),
  ]);
  const engine = bench.own(
    new Engine({
      transports: [],
      size,
      scrollback: 1000,
      sessions: { maxSessions: 5, idleTimeout: 0 },
      recordings: { dir: bench.folder, idleTimeLimit: 2, maxDuration: 0, inactivityTimeout: 0 },
      picturesDir: bench.folder,
      parts: [[ssh, ({ clock }) => new Ssh({ settings: defaultSshSettings, connector, clock })]],
    }),
  );
  const caller = { name: 'bench', principal: 'bench', origin: 'mcp', may: () => true };
  const { ssh: verbs } = sshBook.nouns;
  return (verb, input) => call(verbs[verb], input, { engine, caller, signal: never });
}
