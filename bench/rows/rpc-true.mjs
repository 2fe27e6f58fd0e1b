import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bareShell } from '../lib/bare-shell.mjs';
import { best, interleave, medianMs } from '../lib/measure.mjs';
import { never } from '../lib/product.mjs';
import { env, size } from '../lib/setting.mjs';

export const order = 76;
export const name = 'exec.run_wait `true` over the session RPC';
export const bar = { 'vs the same shell in a bare PTY': { atMost: 2 } };

/** A call over TCP to a running instance whose terminals live in its keeper, against Enter to the prompt in a bare PTY. */
export async function run(bench) {
  const { localTransport } = await bench.load('transports/local/transport');
  const home = join(bench.folder, 'instance');
  const program = join(dirname(fileURLToPath(bench.dist)), 'bin', 'fairlead.js');
  const serving = [
    'serve',
    '--port',
    '0',
    '--rpc-port',
    '0',
    '--keep-terminals=false',
    '--shell',
    'bash',
    '--cwd',
    '/',
  ];
  const server = spawn(process.execPath, [program, ...serving], {
    env: { ...env, FAIRLEAD_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  const rpc = await client(JSON.parse(readFileSync(join(home, 'server.json'), 'utf8')));
  const root = join(bench.folder, 'home');
  const transport = localTransport({ root, shell: 'bash', cwd: '/', env, extraEnv: {}, integration: true });
  const integrated = await transport.open({ target: 'local', size, terminalId: 'bare' }, never);
  const marked = await bareShell(integrated.channel, /\x1b\]133;B[^\x07]*\x07$/);
  bench.own({
    async [Symbol.asyncDispose]() {
      rpc.socket.destroy();
      server.kill();
      await once(server, 'exit');
      await integrated.channel[Symbol.asyncDispose]();
      integrated.release?.();
    },
  });
  const contenders = (commands) => ({
    ours: () =>
      medianMs(commands, async () => {
        const { exit_code } = await rpc.call('exec.run_wait', { id: 0, command: 'true' });
        if (exit_code !== 0) throw new Error(`Got ${exit_code}.`);
      }),
    shell: () => medianMs(commands, () => marked.line('true')),
  });
  // An instance runs for days: its compiled code is measured, not the compiler at work beside it.
  await interleave(1, contenders(bench.pick(3000, 10)));
  const results = await interleave(bench.rounds, contenders(bench.pick(500, 10)));
  const [ours, shell] = [best(results.ours), best(results.shell)];
  return {
    'vs the same shell in a bare PTY': {
      value: ours / shell,
      detail: `${ours.toFixed(2)} ms, shell ${shell.toFixed(2)} ms`,
    },
  };
}

async function client({ mcp_port: port, auth_token: token }) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const waiting = [];
  createInterface({ input: socket }).on('line', (line) => waiting.shift()(JSON.parse(line)));
  const call = async (method, params) => {
    const answer = new Promise((resolve) => waiting.push(resolve));
    socket.write(`${JSON.stringify({ id: 1, method, params })}\n`);
    const { result, error } = await answer;
    if (error) throw new Error(error.message);
    return result;
  };
  await call('auth.login', { token });
  return { socket, call };
}
