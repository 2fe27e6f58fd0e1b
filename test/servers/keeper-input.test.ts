import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { KeeperProgram } from '../../src/transports/local/keeper/start.ts';
import { KeeperHome, size, sleeper, soon, until } from '../support/keeper.ts';

const programOf = (pid: number | undefined): KeeperProgram =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -3) as unknown as KeeperProgram;

const pasted = Array.from({ length: 7500 }, (_, at) => String(at).padStart(7, '0')).join('\n');

describe.runIf(process.platform === 'linux')('input that waits in the keeper', () => {
  test.each([true, false])(
    'the next instance types behind it, and hears that it is accepted (direct: %s)',
    async (direct) => {
      await using home = new KeeperHome();
      const { spawn, wake, typed } = sleeper(home, pasted.length + 6);
      const first = home.client({ direct });
      const before = await first.open(spawn, size, home.newId(), soon());
      await until(before, 'ready');
      // From here on everything goes through the keeper.
      before.conceal('some secret');
      before.write(Buffer.from(pasted)).catch(() => {});
      await first[Symbol.asyncDispose]();
      const next = home.client({ direct });
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
    'a paste under way while the keeper becomes another program is typed once (direct: %s)',
    async (direct) => {
      await using home = new KeeperHome();
      const { spawn, wake, typed } = sleeper(home, pasted.length);
      const client = home.client({ direct });
      const channel = await client.open(spawn, size, home.newId(), soon());
      await until(channel, 'ready');
      if (direct) await expect.poll(() => channel.isDirect).toBe(true);
      const writing = channel.write(Buffer.from(pasted));
      await client.replace(programOf(client.pid), soon());
      wake();
      await writing;
      await expect.poll(() => typed().length).toBe(pasted.length);
      expect(typed()).toBe(pasted);
    },
  );

  test('an instance that comes while input waits types on after the keeper has become another program', async () => {
    await using home = new KeeperHome();
    const { spawn, wake, typed } = sleeper(home, 6);
    const first = home.client({ direct: false });
    const before = await first.open(spawn, size, home.newId(), soon());
    await until(before, 'ready');
    before.write(Buffer.from(pasted)).catch(() => {});
    await first[Symbol.asyncDispose]();
    const next = home.client({ direct: false });
    const [kept] = await next.find(soon());
    if (!kept) throw new Error('The keeper has lost it.');
    const channel = next.take(kept);
    const writing = channel.write(Buffer.from(' after'));
    await next.replace(programOf(next.pid), soon());
    wake();
    await writing;
    await expect.poll(() => typed().length).toBe(6);
    expect(typed()).toBe(pasted.slice(0, 6));
  });
});
