import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { RpcClient } from '../support/rpc.ts';
import { runDelay } from '../support/clocks/run-delay.ts';
import { Served } from '../support/served.ts';

/** FAIRLEAD_LOAD=full is the load that is promised; it takes minutes on two cores. */
const size =
  process.env['FAIRLEAD_LOAD'] === 'full'
    ? { strangers: 1000, greedy: 60, floods: 50, lines: 1_000_000, calls: 100 }
    : { strangers: 300, greedy: 10, floods: 12, lines: 100_000, calls: 20 };

const coloured = String.raw`\033[2m2031-05-01\033[0m \033[32mINFO\033[0m \033[38;5;99mworker\033[0m took 12ms`;
const painting = String.raw`\033[H\033[31mabc\033[10;10Hdef\033[5;5He\314\201`;
const kinds = ['yes', `yes "$(printf '${coloured}')"`, `yes "$(printf '${painting}')"`];

/** Connections without the token: every second one begins a request and never ends it. */
async function strangersAt(port: number, beginning: string): Promise<Socket[]> {
  return await Promise.all(
    Array.from({ length: size.strangers }, async (_, n) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => {});
      await once(socket, 'connect');
      if (n % 2 === 0) socket.write(beginning);
      return socket;
    }),
  );
}

/** Has the token, asks for much and reads nothing. */
async function greedy(port: number, token: string, id: number): Promise<Socket> {
  const client = await RpcClient.connect(port, token);
  client.socket.pause();
  const ask = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'screen.read', params: { id, attrs: true } })}\n`;
  client.send(ask.repeat(200));
  return client.socket;
}

/** How long a call takes, without the time in which the server or this process waited for a core. */
async function timed(pid: number, call: () => Promise<unknown>): Promise<number> {
  const delay = runDelay(pid);
  const before = performance.now();
  let waited = 0;
  try {
    await call();
  } finally {
    waited = delay();
  }
  return performance.now() - before - waited;
}

/** The slowest but one: of a hundred calls, the 99th. */
const p99 = (times: readonly number[]): number => [...times].sort((a, b) => b - a)[1] ?? Number.NaN;

test('strangers, clients that never read and floods at once: the owner is answered within 500 ms, and nothing is lost', async () => {
  await using served = await Served.start(['--port', '0', '--rpc-port', '0']);
  const pid = served.child.pid ?? 0;
  const rpcPort = Number(/session RPC on \S*:(\d+)/.exec(served.out)?.[1]);
  using owner = await RpcClient.connect(rpcPort, served.token);
  const agent = await served.connect();
  const sockets: Socket[] = [];
  try {
    const large = (await owner.call('session.create', {
      cols: 300,
      rows: 200,
      argv: ['/bin/sh', '-c', `yes "$(printf '${coloured}')" | head -c 200000; exec sleep 1000`],
    })) as { id: number };
    for (let n = 0; n < size.floods; n += 1) {
      await owner.call('session.create', { argv: ['/bin/sh', '-c', kinds[n % kinds.length] ?? ''] });
    }
    sockets.push(...(await strangersAt(rpcPort, '{"id":1,"method":"auth.')));
    sockets.push(...(await strangersAt(Number(new URL(served.url).port), 'POST /mcp HTTP/1.1\r\nHost: localhost\r\n')));
    for (let n = 0; n < size.greedy; n += 1) sockets.push(await greedy(rpcPort, served.token, large.id));

    const counted = agent.callTool(
      { name: 'terminal_run', arguments: { command: `seq 1 ${size.lines}`, timeoutMs: 600_000 } },
      { timeout: 600_000 },
    );
    const times: Record<string, number[]> = { list: [], health: [], mcp: [] };
    for (let n = 0; n < size.calls; n += 1) {
      times['list']?.push(await timed(pid, () => owner.call('session.list')));
      times['health']?.push(await timed(pid, () => owner.call('server.health')));
      times['mcp']?.push(await timed(pid, () => agent.callTool({ name: 'terminal_list', arguments: {} })));
    }
    const numbers = Array.from({ length: size.lines }, (_, n) => String(n + 1).length + 1);
    expect((await counted).structuredContent).toMatchObject({
      state: 'done',
      exitCode: 0,
      totalLines: size.lines,
      // Without the last line break.
      totalBytes: numbers.reduce((sum, length) => sum + length, -1),
    });
    const worst = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, Math.round(p99(all))]));
    if (process.env['FAIRLEAD_LOAD'] !== undefined) process.stderr.write(`p99 in ms: ${JSON.stringify(worst)}\n`);
    for (const [name, ms] of Object.entries(worst)) expect(ms, `p99 of ${name}`).toBeLessThan(500);
  } finally {
    for (const socket of sockets) socket.destroy();
    await agent.close();
  }
}, 600_000);
