import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { frameTypes } from '../src/transports/local/keeper/frames.ts';
import type { Listed } from '../src/transports/local/keeper/messages.ts';
import { env, isAlive, size } from './support/keeper.ts';
import { OwnKeeper } from './support/own-keeper.ts';
import { RawClient } from './support/raw-keeper-client.ts';

/** Says that it is there whenever it is asked. */
function answer(client: RawClient): void {
  let said = 0;
  const look = (): void => {
    const asked = client.frames.filter(({ type }) => type === frameTypes.ping).length;
    for (; said < asked; said += 1) client.say('pong');
  };
  client.socket.on('data', look);
  look();
}

async function run(client: RawClient, id: string, text: string): Promise<number> {
  client.say('spawn', id, { argv: ['sh', '-c', text], env, ...size });
  return (JSON.parse(Buffer.from((await client.until('spawned')).body).toString()) as { pid: number }).pid;
}

const shown = (client: RawClient): string =>
  client.frames
    .filter(({ type }) => type === 14)
    .map(({ body }) => Buffer.from(body).toString())
    .join('');

describe.runIf(process.platform === 'linux')('a keeper', () => {
  test('ends itself when it holds nothing and nobody asks', async () => {
    await using own = await OwnKeeper.start({ emptyMs: 150 });
    using client = await own.client();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(own.empty).toBe(false);
    client.socket.destroy();
    await expect.poll(() => own.empty).toBe(true);
  });

  test('R-HUB-035 keeps what ended readable for its time, which begins when an instance hears of it', async () => {
    await using own = await OwnKeeper.start({ readableMs: 400 });
    using client = await own.client();
    const pid = await run(client, 'aaaaa', 'sleep 0.1; echo last words; exit 5');
    client.socket.destroy();
    await expect.poll(() => isAlive(pid)).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 700));
    using next = await own.client();
    const [listed] = (JSON.parse(Buffer.from((await next.until('welcome')).body).toString()) as { terminals: Listed[] })
      .terminals;
    expect(listed).toMatchObject({ id: 'aaaaa', ended: { by: 'exit', code: 5 } });
    next.say('want', 'aaaaa', undefined, 0);
    await next.until('exit');
    expect(shown(next)).toBe('last words\r\n');
    next.socket.destroy();
    expect(await own.listed()).toHaveLength(1);
    await expect.poll(async () => (await own.listed()).length).toBe(0);
  });

  test('R-HUB-032 a program that ignores HUP and TERM is killed when its grace is over, and so is its background', async () => {
    await using own = await OwnKeeper.start();
    using client = await own.client();
    const pid = await run(client, 'aaaaa', 'trap "" HUP TERM; sleep 600 & echo "bg $!"; while :; do sleep 1; done');
    await expect.poll(() => shown(client)).toMatch(/bg \d+\r/);
    const background = Number(/bg (\d+)/.exec(shown(client))?.[1]);
    const started = performance.now();
    client.say('terminate', 'aaaaa', { graceMs: 300 });
    await client.until('terminated');
    const took = performance.now() - started;
    expect(took).toBeGreaterThanOrEqual(290);
    expect(took).toBeLessThan(3000);
    await expect.poll(() => [isAlive(pid), isAlive(background)]).toEqual([false, false]);
    expect(JSON.parse(Buffer.from((await client.until('exit')).body).toString())).toMatchObject({
      ended: { by: 'signal', signal: 'KILL' },
    });
  });

  test('two servers that ask at once are both told that a third is there', async () => {
    await using own = await OwnKeeper.start({ answerMs: 1000 });
    using first = await own.client();
    using second = await RawClient.connect(own.socket);
    using third = await RawClient.connect(own.socket);
    second.hello(process.pid + 1);
    third.hello(process.pid + 2);
    const pings = (): number => first.frames.filter(({ type }) => type === frameTypes.ping).length;
    await expect.poll(pings).toBe(2);
    // One answer, after both have asked.
    first.say('pong');
    await Promise.all([second.until('refused'), third.until('refused')]);
    expect(first.socket.destroyed).toBe(false);
  });

  test('of two servers that find a silent one, the second finds the first', async () => {
    await using own = await OwnKeeper.start({ answerMs: 100 });
    using _silent = await own.client();
    const comers = await Promise.all([1, 2].map(() => RawClient.connect(own.socket)));
    using _first = comers[0] ?? expect.unreachable();
    using _second = comers[1] ?? expect.unreachable();
    for (const [at, one] of comers.entries()) {
      const greeted = one.until('welcome').then(
        () => answer(one),
        () => {},
      );
      one.hello(process.pid + 1 + at);
      void greeted;
    }
    const outcome = (): string =>
      comers
        .map((one) => (one.got('refused') ? 'refused' : one.got('welcome') ? 'welcome' : ''))
        .sort()
        .join();
    await expect.poll(outcome).toBe('refused,welcome');
  });

  test('one that listens to TERM ends at once', async () => {
    await using own = await OwnKeeper.start();
    using client = await own.client();
    await run(client, 'aaaaa', 'trap "echo bye; exit 4" TERM; trap "" HUP; echo ready; while :; do sleep 0.02; done');
    await expect.poll(() => shown(client)).toContain('ready');
    const started = performance.now();
    client.say('terminate', 'aaaaa', { graceMs: 5000 });
    await client.until('terminated');
    expect(performance.now() - started).toBeLessThan(3000);
    await client.until('exit');
    expect(shown(client)).toContain('bye');
  });

  test('without its file nobody could find it: it ends what it holds', async () => {
    await using own = await OwnKeeper.start({ emptyMs: 100 });
    using client = await own.client();
    const pid = await run(client, 'aaaaa', 'sleep 600');
    rmSync(own.socket);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(isAlive(pid), 'it has a client').toBe(true);
    client.socket.destroy();
    await expect.poll(() => isAlive(pid)).toBe(false);
    await expect.poll(() => own.empty).toBe(true);
  });

  test('input that came before is not typed again', async () => {
    await using own = await OwnKeeper.start();
    using client = await own.client();
    await run(client, 'aaaaa', 'stty -echo; echo ready; exec cat');
    await expect.poll(() => shown(client)).toContain('ready');
    client.say('input', 'aaaaa', Buffer.from('one\n'), 0);
    client.say('input', 'aaaaa', Buffer.from('one\ntwo\n'), 0);
    client.say('input', 'aaaaa', Buffer.from('lost'), 900);
    await expect.poll(() => shown(client)).toContain('two');
    expect(shown(client)).toBe('ready\r\none\r\ntwo\r\n');
  });
});
