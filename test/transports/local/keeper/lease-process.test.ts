import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { keeperFor } from '../../../../src/transports/local/keeper/client/keeper-client.ts';
import {
  descriptorsOf,
  leasedTerminals,
  env,
  isAlive,
  KeeperHome,
  rest,
  size,
  soon,
} from '../../../support/keeper/keeper.ts';
import { Served } from '../../../support/served.ts';

/** More rounds than this takes, for those who want to be sure: the bar is twenty. */
const rounds = Number(process.env['FAIRLEAD_KEEPER_ROUNDS'] ?? 3);

const script = (text: string) => ({ argv: ['bash', '-c', text] as const, env });

const mappings = (pid: number): number =>
  readFileSync(`/proc/${pid}/maps`, 'latin1')
    .split('\n')
    .filter((line) => line.includes('memfd:fairlead')).length;

describe.runIf(process.platform === 'linux')('terminals that the server reads itself', () => {
  test(`kill -9 in the middle of four floods, ${rounds} times: the keeper has every byte once, and reads on`, {
    timeout: 60_000 + rounds * 40_000,
  }, async () => {
    const count = 60_000;
    const whole = Array.from({ length: count }, (_, at) => `line ${at + 1} ✓\n`).join('');
    const lines = (from: number, to: number) => `for ((i=${from}; i<=${to}; i++)); do echo "line $i ✓"; done`;
    await using served = await Served.start(['--port', '0', '--max-sessions', '20']);
    const keeper = () => keeperFor('alpha', join(served.home, '.fairlead'));
    for (let round = 0; round < rounds; round++) {
      const client = await served.connect();
      // Its second half comes when all four are leased: a flood that is over is leased no more.
      const gate = join(served.home, `gate-${round}`);
      const halves = [lines(1, count / 2), `until [ -e ${gate} ]; do sleep 0.02; done`, lines(count / 2 + 1, count)];
      const flood = `stty -opost; ${halves.join('; ')}; exit 5`;
      const open = async (): Promise<number> => {
        const opened = await client.callTool({ name: 'terminal_open', arguments: { argv: ['bash', '-c', flood] } });
        return (opened.structuredContent as { pid: number }).pid;
      };
      const pids = await Promise.all([open(), open(), open(), open()]);
      await expect.poll(() => leasedTerminals(served.child.pid ?? 0)).toBeGreaterThanOrEqual(4);
      writeFileSync(gate, '');
      // Anywhere in it: half a flood takes a quarter of a second or so.
      await setTimeout(Math.random() * 250);
      await served.end('SIGKILL');
      await using next = keeper();
      const kept = (await next.find(soon())).filter(({ listed }) => pids.includes(listed.pid));
      const floods = kept.map((one) => next.take(one));
      const texts = await Promise.all(floods.map(rest));
      expect(texts.map((text) => (text === whole ? 'whole' : `${text.length} bytes`))).toEqual(pids.map(() => 'whole'));
      expect(await Promise.all(floods.map(({ ended }) => ended))).toEqual(pids.map(() => ({ by: 'exit', code: 5 })));
      for (const channel of floods) await channel[Symbol.asyncDispose]();
      await next[Symbol.asyncDispose]();
      await client.close().catch(() => {});
      await served.restart();
    }
  });

  test('200 fast exits: every exit code, every last byte', { timeout: 120_000 }, async () => {
    await using home = new KeeperHome();
    const client = home.client();
    await client.ready(soon());
    for (let batch = 0; batch < 20; batch++) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const code = (batch * 10 + index) % 256;
          const lines = 1 + ((batch * 10 + index) % 50) * 40;
          // Some are over before they are leased, and some wait for it: both ways out are taken.
          const id = home.newId();
          const gate = join(home.home, `gate-${id}`);
          const waits = index % 2 === 0;
          const wait = waits ? `until [ -e ${gate} ]; do sleep 0.02; done; ` : '';
          const channel = await client.open(
            script(`stty -opost; ${wait}seq 1 ${lines}; printf 'last'; exit ${code}`),
            size,
            id,
            soon(),
          );
          const reading = rest(channel);
          if (waits) {
            while (!channel.isLeased) await setImmediate();
            writeFileSync(gate, '');
          }
          expect(await reading).toBe(`${Array.from({ length: lines }, (_line, at) => `${at + 1}\n`).join('')}last`);
          expect(await channel.ended).toEqual({ by: 'exit', code });
          await channel[Symbol.asyncDispose]();
        }),
      );
    }
  });

  test('200 terminals opened and closed: no descriptor and no mapping is left, here or in the keeper', {
    timeout: 120_000,
  }, async () => {
    await using home = new KeeperHome();
    const client = home.client();
    const stays = await client.open(script('exec sleep 600'), size, home.newId(), soon());
    await expect.poll(() => stays.isLeased).toBe(true);
    // Of this process only what belongs to terminals: the one who runs the tests opens files when he likes.
    const isOurs = (path: string): boolean => /ptmx|pts\/|memfd:fairlead|^socket:|pidfd/.test(path);
    const counts = () =>
      [process.pid, client.pid ?? 0].map((pid) => ({
        open: descriptorsOf(pid).filter(isOurs).length,
        mapped: mappings(pid),
      }));
    const before = counts();
    for (let batch = 0; batch < 10; batch++) {
      const opened = await Promise.all(
        Array.from({ length: 20 }, () => client.open(script('exec cat'), size, home.newId(), soon())),
      );
      await expect.poll(() => opened.every(({ isLeased }) => isLeased)).toBe(true);
      if (batch % 2 === 0) for (const channel of opened) channel.conceal('some secret');
      await Promise.all(opened.map((channel) => channel[Symbol.asyncDispose]()));
    }
    // Less than before is fine: what comes and goes may have been there at first.
    const left = () =>
      counts().flatMap((now, at) => [now.open - (before[at]?.open ?? 0), now.mapped - (before[at]?.mapped ?? 0)]);
    await expect.poll(() => Math.max(...left()), { timeout: 60_000 }).toBeLessThanOrEqual(0);
  });

  test('a child has its terminal and nothing else, whoever reads it', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    const opened = await Promise.all(
      Array.from({ length: 10 }, () => client.open(script('exec sleep 60'), size, home.newId(), soon())),
    );
    await expect.poll(() => opened.every(({ isLeased }) => isLeased)).toBe(true);
    const { stdout } = spawnSync('ls', ['-l', '/proc/self/fd'], { encoding: 'utf8' });
    expect(stdout).not.toMatch(/ptmx|memfd/);
    const channel = await client.open({ argv: ['ls', '-l', '/proc/self/fd'], env }, size, home.newId(), soon());
    expect(await rest(channel)).not.toMatch(/ptmx|memfd|socket/);
  });

  test('a stopped server keeps its terminals: whoever comes is told which process, and what to do', async () => {
    await using served = await Served.start();
    const client = await served.connect();
    await client.callTool({ name: 'terminal_run', arguments: { command: 'echo begun' } });
    const pid = served.child.pid ?? 0;
    await expect.poll(() => leasedTerminals(pid)).toBe(1);
    served.child.kill('SIGSTOP');
    try {
      await using other = keeperFor('alpha', join(served.home, '.fairlead'));
      await expect(other.find(soon())).rejects.toMatchObject({
        code: 'conflict',
        message: `Process ${pid} has the terminals of this instance and does not answer.`,
        hint: expect.stringContaining(`kill -9 ${pid}`),
        data: { pid },
      });
    } finally {
      served.child.kill('SIGCONT');
    }
    const run = await client.callTool({ name: 'terminal_run', arguments: { command: 'echo still here' } });
    expect(run.structuredContent).toMatchObject({ exitCode: 0, output: 'still here' });
    await client.close();
    // When it is gone, so is its claim.
    served.child.kill('SIGSTOP');
    await served.end('SIGKILL');
    await using next = keeperFor('alpha', join(served.home, '.fairlead'));
    const [kept] = await next.find(soon());
    expect(isAlive(kept?.listed.pid ?? 0)).toBe(true);
  });
});
