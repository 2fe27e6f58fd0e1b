import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { frame } from '../../../../src/transports/local/keeper/frames.ts';
import { isAlive, KeeperHome, listen, rest, script, size, soon, until } from '../../../support/keeper/keeper.ts';
import { RawClient } from '../../../support/keeper/raw-client.ts';

/**
 * Nothing is leased to it: a terminal that is just on its way to a client which leaves stays with that process as long as it
 * lives, and whoever comes with another number is refused.
 */
const unleased = { lease: false };

describe.runIf(process.platform === 'linux')('the keeper process', () => {
  test('an instance goes and another comes: every byte kept once, the exit code of a program that ended meanwhile', async () => {
    await using home = new KeeperHome();
    const first = home.client();
    const id = home.newId();
    const numbers = `n=0; while [ $n -lt 20000 ]; do n=$((n+1)); echo $n; done; exit 7`;
    const channel = await first.open(script(`stty -opost; ${numbers}`), size, id, soon());
    const seen = (await until(channel, '\n500\n')).length;
    expect(channel.received).toBeGreaterThanOrEqual(seen);
    channel.durable.note(Buffer.from('{"name":"x"}'));
    channel.durable.save(Buffer.from('a screen'), 12);
    await channel.durable.leave();
    expect(await channel.ended).toMatchObject({ by: 'lost' });
    await first[Symbol.asyncDispose]();
    await expect.poll(async () => (await listed(home))?.ended).toBeDefined();
    expect(isAlive(channel.process.pid)).toBe(false);

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
    const first = home.client(unleased);
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
    const heard = listen(channel);
    await expect.poll(() => heard.text).toBe('ready\r\n');
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
    await expect.poll(() => heard.text).toBe('ready\r\nstill here\r\n');
  });

  test('frames of types nobody knows, and for terminals nobody has, are skipped', async () => {
    await using home = new KeeperHome();
    const first = home.client(unleased);
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
    const first = home.client(unleased);
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

  test('an instance that stands still stops no program, and costs the keeper no memory', {
    timeout: 100_000,
  }, async () => {
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
    await expect.poll(() => existsSync(done), { timeout: 90_000 }).toBe(true);
    expect(rssKb(welcome.pid) - before).toBeLessThan(40_000);
  });
});

async function listed(home: KeeperHome) {
  await using client = home.client();
  return (await client.find(soon()))[0]?.listed;
}

function rssKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
