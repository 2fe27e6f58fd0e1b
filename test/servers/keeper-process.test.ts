import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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
} from '../support/keeper.ts';
import { frame } from '../../src/transports/local/keeper/frames.ts';
import { keeperProgram } from '../../src/transports/local/keeper/start.ts';
import { RawClient } from '../support/raw-keeper-client.ts';

describe.runIf(process.platform === 'linux')('the keeper process', () => {
  test('it is nobody’s child: own session, no terminal, no descriptors or secrets of ours; its files are ours alone', async () => {
    await using home = new KeeperHome();
    process.env['FAIRLEAD_TOKEN'] = 'not-for-the-keeper-to-know';
    const client = home.client({
      program: ['/bin/sh', '-c', 'exec 9</dev/null; exec "$@"', 'sh', ...keeperProgram()],
    });
    await client.open(script('sleep 60'), size, home.newId(), soon());
    delete process.env['FAIRLEAD_TOKEN'];
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

  test('an instance goes and another comes: every byte kept once, the exit code of a program that ended meanwhile', async () => {
    await using home = new KeeperHome();
    const first = home.client();
    const id = home.newId();
    const numbers = `n=0; while [ $n -lt 20000 ]; do n=$((n+1)); echo $n; done; exit 7`;
    const channel = await first.open(script(`stty -opost; ${numbers}`), size, id, soon());
    const seen = (await until(channel, '\n500\n')).length;
    expect(channel.received).toBeGreaterThanOrEqual(seen);
    channel.memory.note(Buffer.from('{"name":"x"}'));
    channel.memory.save(Buffer.from('a screen'), 12);
    await channel.memory.leave();
    expect(await channel.ended).toMatchObject({ by: 'lost' });
    await first[Symbol.asyncDispose]();
    await expect.poll(() => isAlive(channel.process.pid)).toBe(false);

    const second = home.client();
    const [kept, ...others] = await second.find(soon());
    expect(others).toEqual([]);
    expect(kept?.listed).toMatchObject({ id, start: 0, pid: channel.process.pid, ended: { by: 'exit', code: 7 } });
    expect(Buffer.from(kept?.meta ?? []).toString()).toBe('{"name":"x"}');
    expect(kept?.snapshot?.at).toBe(12);
    expect(Buffer.from(kept?.snapshot?.bytes ?? []).toString()).toBe('a screen');
    const again = second.take(kept as NonNullable<typeof kept>);
    const text = await rest(again);
    expect(text).toBe(Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join(''));
    expect(await again.ended).toEqual({ by: 'exit', code: 7 });
    await again[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    expect(await home.client().find(soon())).toEqual([]);
  });

  test('what the ring has dropped is told by offsets: reading goes on with the oldest byte kept', async () => {
    await using home = new KeeperHome();
    const first = home.client();
    const id = home.newId();
    await first.open({ ...script('stty -opost; read x; seq 1 400000'), capacity: 256 << 10 }, size, id, soon());
    await first[Symbol.asyncDispose]();
    using typist = await RawClient.connect(home.socket);
    typist.hello(1);
    await typist.until('welcome');
    typist.say('input', id, Buffer.from('\n'), 0);
    await typist.until('accepted');
    typist.socket.destroy();
    const second = home.client();
    const whole = Array.from({ length: 400_000 }, (_, index) => `${index + 1}\n`).join('');
    await expect.poll(async () => (await listed(home))?.ended).toEqual({ by: 'exit', code: 0 });
    const [kept] = await second.find(soon());
    if (!kept) throw new Error('It is gone.');
    const { start, end } = kept.listed;
    expect(end - start).toBe(256 << 10);
    expect(await rest(second.take(kept))).toBe(whole.slice(-(256 << 10)));
  });

  test('a client that talks nonsense is dropped, and nobody else is the worse for it', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    const channel = await client.open(script('stty -echo; echo ready; exec cat'), size, home.newId(), soon());
    for (const nonsense of [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.from([0xff, 0xff, 0xff, 0xff, 1, 0]),
      Buffer.from([0, 0, 0, 2, 13, 0]),
      Buffer.alloc(70_000, 7),
    ]) {
      using raw = await RawClient.connect(home.socket);
      raw.socket.write(nonsense);
      await raw.closed;
    }
    using hostile = await RawClient.connect(home.socket);
    hostile.hello(1);
    await hostile.until('refused');
    await channel.write(Buffer.from('still here\n'));
    expect(await until(channel, 'still here')).toContain('ready');
  });

  test('frames of types nobody knows, and for terminals nobody has, are skipped', async () => {
    await using home = new KeeperHome();
    const first = home.client();
    await first.open(script('sleep 60'), size, home.newId(), soon());
    await first[Symbol.asyncDispose]();
    using raw = await RawClient.connect(home.socket);
    raw.hello(1, 99);
    await raw.until('welcome');
    const strange = frame('ping', 'abc12', Buffer.from('?'));
    strange[4] = 250;
    raw.socket.write(strange);
    for (const type of ['want', 'ack', 'input', 'resize', 'kill', 'terminate', 'forget', 'meta', 'snapshot'] as const) {
      raw.say(type, 'fffff', Buffer.from('not JSON'), 5);
    }
    raw.say('spawn', 'eeeee', Buffer.from('[]'));
    raw.say('ping');
    await raw.until('pong');
    expect(raw.got('failed')?.id).toBe('eeeee');
  });

  test('one client at a time: one that lives keeps the keeper, one that is silent loses it', async () => {
    await using home = new KeeperHome();
    const first = home.client();
    const channel = await first.open(script('sleep 60'), size, home.newId(), soon());
    using other = await RawClient.connect(home.socket);
    other.hello(1);
    const refused = await other.until('refused');
    expect(JSON.parse(Buffer.from(refused.body).toString())).toEqual({ reason: 'busy', pid: process.pid });
    await first[Symbol.asyncDispose]();
    expect(await channel.ended).toMatchObject({ by: 'lost' });

    // It has the keeper and never answers: it may be stopped, or hang.
    using silent = await RawClient.connect(home.socket);
    silent.hello(1);
    await silent.until('welcome');
    const third = home.client();
    expect(await third.find(soon())).toHaveLength(1);
    await silent.closed;

    // One that answers keeps it.
    await third[Symbol.asyncDispose]();
    using lively = await RawClient.connect(home.socket);
    lively.socket.on('data', () => lively.say('pong'));
    lively.hello(1);
    await lively.until('welcome');
    await expect(home.client().find(soon())).rejects.toMatchObject({ code: 'conflict', data: { pid: 1 } });
  });

  test('an instance that stands still stops no program, and costs the keeper no memory', async () => {
    await using home = new KeeperHome();
    const first = home.client();
    await first.open(script('sleep 60'), size, home.newId(), soon());
    await first[Symbol.asyncDispose]();
    const done = join(home.home, 'done');
    using stuck = await RawClient.connect(home.socket);
    stuck.hello(process.pid);
    const welcome = JSON.parse(Buffer.from((await stuck.until('welcome')).body).toString()) as { pid: number };
    const before = rssKb(welcome.pid);
    stuck.say('spawn', 'fffff', { ...script(`seq 1 5000000; touch ${done}; sleep 60`), ...size });
    await stuck.until('spawned');
    stuck.socket.pause();
    await expect.poll(() => existsSync(done), { timeout: 25_000 }).toBe(true);
    expect(rssKb(welcome.pid) - before).toBeLessThan(40_000);
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
    const old = client.pid ?? 0;
    process.kill(old, 'SIGKILL');
    const ended = await deaf.ended;
    expect(ended).toMatchObject({
      by: 'lost',
      reason: expect.stringContaining(`its keeper (process ${old}) has ended`),
    });
    expect(ended).toMatchObject({ reason: expect.stringContaining(`${deaf.process.pid} (sleep)`) });
    expect(await plain.ended).toMatchObject({ by: 'lost' });
    expect(isAlive(plain.process.pid)).toBe(false);
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
    const keepers = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(home.home));
    expect(new Set(keepers.map(Number))).toEqual(new Set([alpha.pid, bravo.pid]));
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

  test('it becomes another program with all it holds: same processes, not a byte lost or twice, input too', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    const counter = await client.open(
      { argv: ['bash', '-c', 'stty -opost; for ((i=1; i<=60000; i++)); do echo $i; done; exit 6'], env },
      size,
      home.newId(),
      soon(),
    );
    const cat = await client.open(script('stty -echo -opost; echo ready; exec cat'), size, home.newId(), soon());
    const quick = await client.open(script('exit 3'), size, home.newId(), soon());
    expect(await quick.ended).toEqual({ by: 'exit', code: 3 });
    const counted = rest(counter);
    const lines = cat.output[Symbol.asyncIterator]();
    expect(Buffer.from((await lines.next()).value as Uint8Array).toString()).toBe('ready\n');
    cat.conceal('swordfish');
    cat.memory.note(Buffer.from('{"kept":true}'));
    const pid = client.pid ?? 0;
    const program = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -3);
    for (let round = 0; round < 3; round++) {
      await client.replace(program as [string, ...string[]], soon());
      expect(client.pid).toBe(pid);
      await cat.write(Buffer.from(`round ${round} swordfish\n`));
      let text = '';
      while (!text.endsWith('\n')) text += Buffer.from((await lines.next()).value as Uint8Array).toString();
      expect(text).toBe(`round ${round} •••\n`);
    }
    expect(readFileSync(join(home.home, 'run', 'keeper-alpha.log'), 'utf8')).toBe('');
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').length).toBeGreaterThan(program.length + 3);
    expect(await counted).toBe(Array.from({ length: 60_000 }, (_, index) => `${index + 1}\n`).join(''));
    expect(await counter.ended).toEqual({ by: 'exit', code: 6 });
    const leaked = await client.open({ argv: ['ls', '-l', '/proc/self/fd'], env }, size, home.newId(), soon());
    expect(await rest(leaked)).not.toMatch(/ptmx|memfd|keeper|socket/);
    await client[Symbol.asyncDispose]();
    const kept = await home.client().find(soon());
    expect(kept.map(({ listed }) => listed.ended ?? 'runs')).toEqual([
      { by: 'exit', code: 6 },
      'runs',
      { by: 'exit', code: 3 },
      { by: 'exit', code: 0 },
    ]);
    expect(Buffer.from(kept[1]?.meta ?? []).toString()).toBe('{"kept":true}');
  });

  test('a keeper whose frames are older is replaced by the instance that finds it', async () => {
    await using home = new KeeperHome();
    const first = home.client();
    const { process: before } = await first.open(script('sleep 60'), size, home.newId(), soon());
    const pid = first.pid ?? 0;
    const started = commandLine(pid);
    await first[Symbol.asyncDispose]();
    const newer = home.client({ version: 2 });
    const kept = await newer.find(soon());
    expect(kept.map(({ listed }) => listed.pid)).toEqual([before.pid]);
    expect(newer.pid).toBe(pid);
    expect(commandLine(pid)).not.toBe(started);
  });

  test('when the other program cannot be had it stays what it is', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    const cat = await client.open(script('stty -echo -opost; echo ready; exec cat'), size, home.newId(), soon());
    const lines = cat.output[Symbol.asyncIterator]();
    await lines.next();
    for (const program of [['/no/such/program'], ['/dev/null', '/dev/null']] as const) {
      await client.replace([...program], soon());
      await cat.write(Buffer.from('still here\n'));
      expect(Buffer.from((await lines.next()).value as Uint8Array).toString()).toBe('still here\n');
    }
    expect(readFileSync(join(home.home, 'run', 'keeper-alpha.log'), 'utf8')).toMatch(/ENOENT[\s\S]*EACCES/);
  });

  test('its memory: less than 100 KB for a quiet terminal, the ring and little more for one that printed much', async () => {
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
    expect(channel.process.echo()).toBe(false);
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
      message: 'There is no program no-such-program.',
    });
    await expect(client.open({ argv: ['sh'], env, cwd: '/nowhere' }, size, home.newId(), soon())).rejects.toMatchObject(
      { message: 'The working directory /nowhere does not exist.' },
    );
  });
});

async function listed(home: KeeperHome) {
  await using client = home.client();
  return (await client.find(soon()))[0]?.listed;
}

function closesOnExec(pid: number, fd: string): boolean {
  const flags = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'))?.[1] ?? '0';
  return (Number.parseInt(flags, 8) & 0o2000000) !== 0;
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

function rssKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
