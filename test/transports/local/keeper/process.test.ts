import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { keeperProgram } from '../../../../src/transports/local/keeper/client/start-keeper.ts';
import {
  commandLine,
  descriptorsOf,
  env,
  isAlive,
  KeeperHome,
  modeOf,
  rest,
  script,
  size,
  soon,
  until,
} from '../../../support/keeper/keeper.ts';

describe.runIf(process.platform === 'linux')('the keeper process', () => {
  test('it is nobody’s child: own session, no terminal, no descriptors or secrets of ours; its files are ours alone', async () => {
    await using home = new KeeperHome();
    process.env['FAIRLEAD_TOKEN'] = 'not-for-the-keeper-to-know';
    const client = home.client({
      program: ['/bin/sh', '-c', 'exec 9</dev/null; exec "$@"', 'sh', ...keeperProgram()],
    });
    const channel = await client.open(script('sleep 60'), size, home.newId(), soon());
    delete process.env['FAIRLEAD_TOKEN'];
    // Descriptors come and go until it is leased.
    await expect.poll(() => channel.isLeased).toBe(true);
    const pid = client.pid ?? 0;
    const [, , , session, tty] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
    expect([Number(session), Number(tty)]).toEqual([pid, 0]);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/');
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('not-for-the-keeper');
    expect(readlinkSync(`/proc/${pid}/fd/0`)).toBe('/dev/null');
    // Nothing is open that was not opened by itself: whoever waits for the end of our pipes is not kept waiting.
    const inherited = readdirSync(`/proc/${pid}/fd`).filter((fd) => Number(fd) > 2 && !closesOnExec(pid, fd));
    expect(inherited).toEqual([]);
    const run = join(home.home, 'run');
    expect(modeOf(run)).toBe('700');
    for (const name of readdirSync(run)) expect([name, modeOf(join(run, name))]).toEqual([name, '600']);
    expect(readdirSync(run).sort()).toEqual(['keeper-alpha.lock', 'keeper-alpha.log', 'keeper-alpha.sock']);
  });

  test('a killed keeper: terminals are lost, what outlived them is named, and the next terminal gets a new keeper', async () => {
    await using home = new KeeperHome();
    const said: string[] = [];
    const client = home.client({ log: (message) => said.push(message) });
    const plain = await client.open(script('echo a; sleep 60'), size, home.newId(), soon());
    const deaf = await client.open(
      { argv: ['sh', '-c', 'trap "" HUP; echo deaf; exec sleep 61'], env },
      size,
      home.newId(),
      soon(),
    );
    await until(deaf, 'deaf');
    await expect.poll(() => deaf.process.foreground()?.name).toBe('sleep');
    const old = client.pid ?? 0;
    process.kill(old, 'SIGKILL');
    const ended = await deaf.ended;
    expect(ended).toMatchObject({
      by: 'lost',
      reason: expect.stringContaining(`its keeper (process ${old}) has ended`),
    });
    expect(ended).toMatchObject({ reason: expect.stringContaining(`${deaf.process.pid} (sleep)`) });
    expect(await plain.ended).toMatchObject({ by: 'lost' });
    await expect.poll(() => isAlive(plain.process.pid)).toBe(false);
    expect(said).toEqual([expect.stringContaining(`${deaf.process.pid} (sleep)`)]);
    await expect(deaf.write(Buffer.from('x'))).rejects.toMatchObject({ code: 'terminal_exited' });
    process.kill(deaf.process.pid, 'SIGKILL');
    const next = await client.open(script('echo new'), size, home.newId(), soon());
    expect(await rest(next)).toContain('new');
    expect(client.pid).not.toBe(old);
  });

  test('two instances have two keepers; two starts of one instance have one', async () => {
    await using home = new KeeperHome();
    const alpha = home.client();
    const bravo = home.client({}, 'bravo');
    await Promise.all([
      alpha.open(script('sleep 60'), size, home.newId(), soon()),
      alpha.open(script('sleep 60'), size, home.newId(), soon()),
      bravo.open(script('sleep 60'), size, home.newId(), soon()),
    ]);
    expect(alpha.pid).not.toBe(bravo.pid);
    const keepers = () =>
      readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(home.home));
    // A child that has not yet become its program is called as the keeper is.
    await expect.poll(() => new Set(keepers().map(Number))).toEqual(new Set([alpha.pid, bravo.pid]));
  });

  test('a child has its terminal and nothing else, whatever else the keeper holds', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    await Promise.all(
      Array.from({ length: 20 }, () => client.open(script('exec sleep 60'), size, home.newId(), soon())),
    );
    const channel = await client.open({ argv: ['ls', '-l', '/proc/self/fd'], env }, size, home.newId(), soon());
    const lines = (await rest(channel)).split('\r\n');
    expect(
      lines.filter((line) => line.includes('->')).map((line) => line.replace(/.* (\d+ -> \/\w+)\/.*/, '$1')),
    ).toEqual(['0 -> /dev', '1 -> /dev', '2 -> /dev', '3 -> /proc']);
  });

  test('its memory: less than 100 KB for a quiet terminal, the ring and little more for one that printed much', {
    timeout: 120_000,
  }, async () => {
    await using home = new KeeperHome();
    const client = home.client();
    await client.open(script('exec sleep 60'), size, home.newId(), soon());
    const pid = client.pid ?? 0;
    const before = ownKb(pid);
    for (let one = 0; one < 50; one++) {
      await client.open(script('echo hello; exec sleep 60'), size, home.newId(), soon());
    }
    const quiet = ownKb(pid);
    expect((quiet - before) / 50).toBeLessThan(100);
    const flood = 'head -c 6000000 /dev/zero | tr "\\0" x; echo; echo done; exec sleep 60';
    const floods = await Promise.all(
      Array.from({ length: 5 }, () => client.open(script(flood), size, home.newId(), soon())),
    );
    await Promise.all(floods.map((channel) => until(channel, 'done')));
    // 4 MiB each; what reading them took is shared by all and comes back.
    expect((ownKb(pid) - quiet) / 5).toBeLessThan(4096 + 2048);
  });

  test('what is seen of a process: foreground, directory, echo; and the device is not held open', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    const channel = await client.open(
      { argv: ['bash', '--norc', '-c', 'stty -echo; cd /usr; echo ready; sleep 60'], env, cwd: '/tmp' },
      size,
      home.newId(),
      soon(),
    );
    await until(channel, 'ready');
    await expect.poll(() => channel.process.foreground()?.name).toBe('sleep');
    expect(channel.process.cwd()).toBe('/usr');
    expect(channel.process.inputMode()).toBe('hidden');
    expect(channel.process.longestLine?.()).toBe(4095);
    // The far end: held open, it would keep a terminal from hanging up that everybody else has left.
    expect(descriptorsOf(process.pid).filter((path) => path.startsWith('/dev/pts'))).toEqual([]);
  });

  test('a secret does not reach the ring', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    const channel = await client.open(
      script('stty -echo; echo ready; read x; echo "<$x>"'),
      size,
      home.newId(),
      soon(),
    );
    channel.conceal('swordfish');
    await channel.write(Buffer.from('swordfish\n'));
    const text = await rest(channel);
    expect(text).toContain('<•••>');
    expect(text).not.toContain('swordfish');
  });

  test('a program that cannot be started is explained as always', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    await expect(client.open({ argv: ['no-such-program'], env }, size, home.newId(), soon())).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'Program not found: no-such-program.',
    });
    await expect(client.open({ argv: ['sh'], env, cwd: '/nowhere' }, size, home.newId(), soon())).rejects.toMatchObject(
      { message: 'The working directory /nowhere does not exist.' },
    );
  });
});

function closesOnExec(pid: number, fd: string): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & 0o2000000) !== 0;
  } catch {
    // It is closed: what was inherited stays.
    return true;
  }
}

/** Memory that is its own, and what it shares with the instance: what every Node process shares is not counted. */
function ownKb(pid: number): number {
  const own = Number(/^Private_Dirty:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
  const files = readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  const isShared = (file: string): boolean => pathOf(file).startsWith('/memfd:fairlead');
  return files.filter(isShared).reduce((sum, file) => sum + statSync(file).blocks / 2, own);
}

function pathOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
