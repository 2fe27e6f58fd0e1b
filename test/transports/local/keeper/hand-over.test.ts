import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { env, isAlive, KeeperHome, listen, size, soon } from '../../../support/keeper/keeper.ts';

const script = (text: string) => ({ argv: ['bash', '-c', text] as const, env });

/** Does nothing else, not even listen: as long as a slow collection takes. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe.runIf(process.platform === 'linux')('a terminal between its keeper and its server', () => {
  test('R-RPC-025 keys do not overtake a resize', async () => {
    await using home = new KeeperHome();
    const shell = `stty raw -echo; echo ready; while IFS= read -rn1 key; do stty size; done`;
    const channel = await home.client().open(script(shell), size, home.newId(), soon());
    const heard = listen(channel);
    await expect.poll(() => heard.text.includes('ready\n') && channel.isLeased).toBe(true);
    for (let cols = 40; cols < 90; cols++) {
      heard.text = '';
      await channel.resize({ cols, rows: 24 });
      await channel.write(Buffer.from('x'));
      await expect.poll(() => heard.text, { interval: 1 }).toContain('\n');
      expect(heard.text.trim()).toBe(`24 ${cols}`);
    }
  });

  test('a server that stands still while a terminal is closed hears its last words and its exit code afterwards', async () => {
    await using home = new KeeperHome();
    const program = 'trap "echo bye; exit 7" HUP TERM; echo ready; while :; do sleep 0.01; echo x; done';
    const channel = await home.client().open(script(program), size, home.newId(), soon());
    const heard = listen(channel);
    await expect.poll(() => heard.text.includes('ready') && channel.isLeased).toBe(true);
    // With time for its last words, however busy the machine is.
    const closing = channel.endWithin(20_000);
    // The keeper is told in the next turn of the loop; then nothing is heard for longer than it waits.
    await new Promise((resolve) => setImmediate(resolve));
    standStill(1700);
    expect(await channel.ended).toEqual({ by: 'exit', code: 7 });
    expect(heard.text).toMatch(/bye\r\n$/);
    await closing;
  });

  test.runIf(spawnSync('strace', ['-V']).status === 0)(
    'R-HUB-033 nothing is sent to a process that has ended',
    async () => {
      await using home = new KeeperHome();
      const client = home.client();
      const channel = await client.open(script('read; exit 4'), size, home.newId(), soon());
      await expect.poll(() => channel.isLeased).toBe(true);
      const keeper = client.pid ?? 0;
      const program = channel.process.pid;
      await channel.write(Buffer.from('\n'));
      // It ends while we are not there to give it back; the keeper is told to end everything.
      const trace = `strace -f -qq -e trace=kill -p ${keeper} 2>&1 & sleep 0.3; kill -TERM ${keeper}; wait`;
      const sent = execFileSync('bash', ['-c', trace], {
        encoding: 'utf8',
        timeout: 25_000,
        // With a socket there, bash would take itself for one started by a network daemon and read a start-up file.
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      expect(sent).not.toMatch(new RegExp(`kill\\(-${program}, SIG(HUP|TERM|KILL|CONT)`));
      await expect.poll(() => isAlive(program)).toBe(false);
    },
  );
});
