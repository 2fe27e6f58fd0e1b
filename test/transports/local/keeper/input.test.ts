import { closeSync, constants, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { KeeperProgram } from '../../../../src/transports/local/keeper/client/start-keeper.ts';
import { FIONREAD, type Libc, loadLibc } from '../../../../src/transports/local/pty/libc.ts';
import { leasedTerminals, KeeperHome, size, sleeper, soon, until } from '../../../support/keeper/keeper.ts';
import { KeeperLinks } from '../../../support/keeper/links.ts';
import { RawClient } from '../../../support/keeper/raw-client.ts';
import { Served } from '../../../support/served.ts';

const programOf = (pid: number | undefined): KeeperProgram =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -3) as unknown as KeeperProgram;

/** How many bytes were typed that the program has not read. */
function waitingFor(libc: Libc, pid: number): number {
  const fd = openSync(`/proc/${pid}/fd/0`, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  const count = new Int32Array(1);
  libc.ioctl(fd, FIONREAD, count);
  closeSync(fd);
  return count[0] ?? 0;
}

const pasted = Array.from({ length: 7500 }, (_, at) => String(at).padStart(7, '0')).join('\n');

describe.runIf(process.platform === 'linux')('input that waits in the keeper', () => {
  test.each([true, false])(
    'the next instance types behind it, and hears that it is accepted (leased: %s)',
    async (lease) => {
      await using home = new KeeperHome();
      const { spawn, wake, typed } = sleeper(home, pasted.length + 6);
      const first = home.client({ lease });
      const before = await first.open(spawn, size, home.newId(), soon());
      await until(before, 'ready');
      // From here on everything goes through the keeper.
      before.conceal('some secret');
      before.write(Buffer.from(pasted)).catch(() => {});
      await first[Symbol.asyncDispose]();
      const next = home.client({ lease });
      const [kept] = await next.find(soon());
      if (!kept) throw new Error('The keeper has lost it.');
      const channel = next.take(kept);
      const writing = channel.write(Buffer.from(' after'));
      wake();
      await writing;
      await expect.poll(() => typed().length).toBe(pasted.length + 6);
      expect(typed()).toBe(`${pasted} after`);
    },
  );

  test.each([true, false])(
    'a paste under way while the keeper becomes another program is typed once (leased: %s)',
    async (lease) => {
      await using home = new KeeperHome();
      const { spawn, wake, typed } = sleeper(home, pasted.length);
      const client = home.client({ lease });
      const channel = await client.open(spawn, size, home.newId(), soon());
      await until(channel, 'ready');
      if (lease) await expect.poll(() => channel.isLeased).toBe(true);
      const writing = channel.write(Buffer.from(pasted));
      await client.replace(programOf(client.pid), soon());
      wake();
      await writing;
      await expect.poll(() => typed().length).toBe(pasted.length);
      expect(typed()).toBe(pasted);
    },
  );

  test.each(['the keeper becomes another program', 'the connection breaks'])(
    'what a server that died had handed to the keeper is typed once, and the next types behind it, also when %s',
    async (when) => {
      using links = new KeeperLinks();
      await using home = new KeeperHome();
      {
        await using starter = home.client();
        await starter.ready(soon());
      }
      const { spawn, wake, typed } = sleeper(home, pasted.length + 12);
      const id = home.newId();
      using dying = await RawClient.connect(home.socket);
      dying.hello(process.pid);
      await dying.until('welcome');
      dying.say('spawn', id, { ...spawn, ...size });
      await dying.until('data');
      dying.say('input', id, Buffer.from(pasted), 0);
      dying.say('ping');
      await dying.until('pong');
      dying.socket.destroy();
      const next = home.client({ lease: false });
      const [kept] = await next.find(soon());
      if (!kept) throw new Error('The keeper has lost it.');
      expect(kept.listed.input).toBe(pasted.length);
      const channel = next.take(kept);
      const writing = channel.write(Buffer.from(' after'));
      if (when.includes('program')) await next.replace(programOf(next.pid), soon());
      else await links.cut((socket) => socket.destroy());
      const last = channel.write(Buffer.from(' again'));
      await expect.poll(() => next.pid).toBeDefined();
      wake();
      await Promise.all([writing, last]);
      await expect.poll(() => typed().length).toBe(pasted.length + 12);
      expect(typed()).toBe(`${pasted} after again`);
    },
  );

  test('what a server that is killed had not handed on is lost with it: nothing is typed twice, and the next types on', async () => {
    const libc = await loadLibc();
    await using served = await Served.start();
    const [gate, file] = [join(served.home, 'gate'), join(served.home, 'typed')];
    const program = `stty raw -echo; mkfifo ${gate}; cat ${gate}; exec cat > ${file}`;
    const client = await served.connect();
    const opened = await client.callTool({ name: 'terminal_open', arguments: { argv: ['sh', '-c', program] } });
    const { terminal, pid } = opened.structuredContent as { terminal: string; pid: number };
    await expect.poll(() => existsSync(gate)).toBe(true);
    // A server has a terminal of its own from the start.
    await expect.poll(() => leasedTerminals(served.child.pid ?? 0)).toBe(2);
    const send = { terminal, text: pasted, mode: 'raw' };
    client.callTool({ name: 'terminal_send', arguments: send }).catch(() => {});
    // It reads nothing: the kernel takes a part, the rest waits in the server.
    await expect.poll(() => waitingFor(libc, pid)).toBeGreaterThan(0);
    await served.end('SIGKILL');
    await served.restart();
    const next = await served.connect();
    const after = next.callTool({ name: 'terminal_send', arguments: { ...send, text: ' after' } });
    writeFileSync(gate, '');
    await after;
    await expect.poll(() => readFileSync(file, 'latin1')).toMatch(/ after$/);
    const typed = readFileSync(file, 'latin1').slice(0, -' after'.length);
    expect(pasted.startsWith(typed)).toBe(true);
    expect(typed.length).toBeGreaterThan(0);
    expect(typed.length).toBeLessThan(pasted.length);
    await Promise.allSettled([client.close(), next.close()]);
  });
});
