import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Frame, frameTypes } from '../../../../src/transports/local/keeper/frames.ts';
import type { Listed } from '../../../../src/transports/local/keeper/messages.ts';
import { env, isAlive, size } from '../../../support/keeper/keeper.ts';
import { ManualClock } from '../../../support/clocks/manual.ts';
import { OwnKeeper } from '../../../support/keeper/own-keeper.ts';
import { RawClient } from '../../../support/keeper/raw-client.ts';

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

const listedIn = ({ body }: Frame): Listed[] =>
  (JSON.parse(Buffer.from(body).toString()) as { terminals: Listed[] }).terminals;

describe.runIf(process.platform === 'linux')('a keeper', () => {
  test('ends itself when it holds nothing and nobody asks', async () => {
    const clock = new ManualClock();
    await using own = await OwnKeeper.start({ emptyMs: 1000 }, { clock });
    using client = await own.client();
    clock.advance(5000);
    expect(own.empty).toBe(false);
    client.socket.destroy();
    // Its time begins when it has heard that nobody is there any more.
    await expect
      .poll(() => {
        clock.advance(250);
        return own.empty;
      })
      .toBe(true);
  });

  test('R-HUB-035 keeps what ended readable for its time, which begins when an instance hears of it', async () => {
    const clock = new ManualClock();
    await using own = await OwnKeeper.start({ readableMs: 400 }, { clock });
    using client = await own.client();
    const gate = join(own.folder, 'gate');
    await run(client, 'aaaaa', `until [ -e ${gate} ]; do sleep 0.02; done; echo last words; exit 5`);
    client.socket.destroy();
    // Somebody else has come in its place, who does not want to hear of it.
    await own.listed();
    writeFileSync(gate, '');
    const ended = { id: 'aaaaa', ended: { by: 'exit', code: 5 } };
    await expect.poll(() => own.listed()).toMatchObject([ended]);
    clock.advance(700);
    using next = await own.client();
    expect(listedIn(await next.until('welcome'))).toMatchObject([ended]);
    next.say('want', 'aaaaa', undefined, 0);
    await next.until('exit');
    expect(shown(next)).toBe('last words\r\n');
    next.socket.destroy();
    clock.advance(300);
    expect(await own.listed()).toHaveLength(1);
    clock.advance(200);
    expect(await own.listed()).toEqual([]);
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
    expect(performance.now() - started).toBeGreaterThanOrEqual(290);
    await expect.poll(() => [isAlive(pid), isAlive(background)]).toEqual([false, false]);
    expect(JSON.parse(Buffer.from((await client.until('exit')).body).toString())).toMatchObject({
      ended: { by: 'signal', signal: 'KILL' },
    });
  });

  test('a terminal that is forgotten while it is being ended is forgotten when it has; one that lives is not', async () => {
    await using own = await OwnKeeper.start();
    using client = await own.client();
    await run(client, 'aaaaa', 'trap "" HUP TERM; echo ready; while :; do sleep 1; done');
    await run(client, 'bbbbb', 'exec sleep 600');
    await expect.poll(() => shown(client)).toContain('ready');
    client.say('forget', 'bbbbb');
    client.say('terminate', 'aaaaa', { graceMs: 100 });
    // Whoever closed it has waited for long enough.
    client.say('forget', 'aaaaa');
    await client.until('terminated');
    await expect.poll(async () => (await own.listed()).map(({ id }) => id)).toEqual(['bbbbb']);
  });

  test('two servers that ask at once are both told that a third is there', async () => {
    // The answer is there long before that.
    await using own = await OwnKeeper.start({ answerMs: 60_000 });
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
    // So long for the silent one to be given up, and for the first of the others to answer.
    await using own = await OwnKeeper.start({ answerMs: 1500 });
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
    // Longer than this test may take.
    client.say('terminate', 'aaaaa', { graceMs: 600_000 });
    await client.until('terminated');
    await client.until('exit');
    expect(shown(client)).toContain('bye');
  });

  test('without its file nobody could find it: it ends what it holds', async () => {
    const clock = new ManualClock();
    await using own = await OwnKeeper.start({ emptyMs: 1000 }, { clock });
    using client = await own.client();
    const pid = await run(client, 'aaaaa', 'sleep 600');
    rmSync(own.socket);
    clock.advance(5000);
    client.say('ping');
    await client.until('pong');
    expect(isAlive(pid), 'it has a client').toBe(true);
    client.socket.destroy();
    await expect
      .poll(() => {
        clock.advance(250);
        return isAlive(pid);
      })
      .toBe(false);
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
    await expect.poll(() => shown(client)).toMatch(/two\r\n$/);
    expect(shown(client)).toBe('ready\r\none\r\ntwo\r\n');
  });
});
