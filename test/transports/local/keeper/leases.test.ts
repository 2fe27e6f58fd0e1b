import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KeeperTerminal } from '../../../../src/transports/local/keeper/server/keeper-terminal.ts';
import { terminalLog } from '../../../../src/transports/local/keeper/lease/terminal-log.ts';
import { Leases } from '../../../../src/transports/local/keeper/lease/leases.ts';
import { ReadPosition } from '../../../../src/transports/local/keeper/server/outlet.ts';
import { loadLibc } from '../../../../src/transports/local/pty/libc.ts';
import { openLinuxPty } from '../../../../src/transports/local/pty/pty-linux.ts';
import { loadSharedCalls } from '../../../../src/transports/local/keeper/lease/shared-calls.ts';
import { env, size } from '../../../support/keeper/keeper.ts';
import { ManualClock } from '../../../support/clocks/manual.ts';

const calls = await loadSharedCalls();

/** Two ends of a connection of this process with itself. */
async function pair(): Promise<{ near: Socket; far: Socket } & Disposable> {
  const folder = mkdtempSync(join(tmpdir(), 'fl-pair-'));
  const server = createServer();
  server.listen(join(folder, 's'));
  await once(server, 'listening');
  const far = connect(join(folder, 's'));
  const [near] = (await once(server, 'connection')) as [Socket];
  return {
    near,
    far,
    [Symbol.dispose]() {
      for (const socket of [near, far]) socket.destroy();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

test.runIf(calls !== undefined)(
  'a terminal that a client could not use is not leased to it again, until the client has left it',
  async () => {
    if (!calls) throw new Error('Nothing can be leased here.');
    using sockets = await pair();
    const channel = openLinuxPty(await loadLibc(), { argv: ['sleep', '60'], env }, size);
    const held = new KeeperTerminal({
      id: 'aaaaa',
      channel,
      pid: channel.process.pid,
      terminal: channel.terminal,
      size,
      log: terminalLog(calls, 256 << 10),
      clock: new ManualClock(),
    });
    try {
      using leases = new Leases({ calls, pid: process.pid, tell: () => {}, kick: () => {} });
      expect(leases.attach(sockets.near, leases.ticket)).toBe(true);
      const position = new ReadPosition(held);
      /** Whether it is leased when there is a reason to offer it. */
      const isLeased = (): boolean => {
        position.want(held.log.end);
        leases.offer(position);
        position.onCaughtUp?.();
        return leases.isLeased(position);
      };
      expect(isLeased()).toBe(true);
      leases.returned(position, false);
      expect(isLeased()).toBe(true);
      leases.returned(position, true);
      expect(isLeased()).toBe(false);
      leases.returned(position, false);
      expect(isLeased()).toBe(false);
      leases.forget(position);
      expect(isLeased()).toBe(true);
      leases.forget(position);
    } finally {
      await held.terminate();
      held[Symbol.dispose]();
    }
  },
);
