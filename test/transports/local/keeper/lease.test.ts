import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { KeeperClient } from '../../../../src/transports/local/keeper/client/keeper-client.ts';
import { frame, frameTypes } from '../../../../src/transports/local/keeper/frames.ts';
import type { KeeperChannel } from '../../../../src/transports/local/keeper/client/keeper-channel.ts';
import type { Welcome } from '../../../../src/transports/local/keeper/messages.ts';
import { encode } from '../../../../src/transports/resumable/messages.ts';
import { loadSharedCalls, type SharedCalls } from '../../../../src/transports/local/keeper/lease/shared-calls.ts';
import { env, listen, size, soon } from '../../../support/keeper/keeper.ts';
import { OwnKeeper } from '../../../support/keeper/own-keeper.ts';
import { RawClient } from '../../../support/keeper/raw-client.ts';
import { ManualClock } from '../../../support/clocks/manual.ts';

const shared = await loadSharedCalls();
const script = (text: string) => ({ argv: ['sh', '-c', text] as const, env });

function clientOf(own: OwnKeeper, lease = true): KeeperClient {
  const { folder, socket } = own;
  return new KeeperClient({ folder, socket, lock: join(folder, 'lock'), log: join(folder, 'log') }, { lease });
}

/** Repeats what it is told, leased to this process. */
async function leasedCat(client: KeeperClient): Promise<{ cat: KeeperChannel; got: { text: string } }> {
  await client.ready(soon());
  const cat = await client.open(script('stty -echo; echo ready; exec cat'), size, 'aaaaa', soon());
  const got = listen(cat);
  await expect.poll(() => [cat.isLeased, got.text]).toEqual([true, 'ready\r\n']);
  return { cat, got };
}

/** Everything in the shared memory of this process's terminals, staging areas and all. */
function memories(): string {
  const files = readdirSync('/proc/self/fd').map((fd) => `/proc/self/fd/${fd}`);
  const isMemory = (file: string): boolean => {
    try {
      return readlinkSync(file).startsWith('/memfd:fairlead');
    } catch {
      return false;
    }
  };
  return files
    .filter(isMemory)
    .map((file) => readFileSync(file, 'latin1'))
    .join('');
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

function ticketOf(client: RawClient): string {
  const { ticket } = JSON.parse(Buffer.from(client.got('welcome')?.body ?? '{}').toString()) as Partial<Welcome>;
  if (ticket === undefined) throw new Error('The keeper leases nothing.');
  return ticket;
}

const secondHello = (ticket: string): Buffer => frame('hello', '', encode({ version: 1, pid: process.pid, ticket }));

/** What the keeper says to whoever brings this ticket: something, or nothing and closes. */
async function bring(path: string, ticket: string): Promise<string> {
  using client = await RawClient.connect(path);
  const said = once(client.socket, 'data').then(() => 'something');
  client.socket.write(secondHello(ticket));
  return await Promise.race([said, client.closed.then(() => 'nothing')]);
}

async function bringFromAnotherProcess(path: string, ticket: string): Promise<string> {
  const program = `
    const socket = require('node:net').connect(process.argv[1]);
    const say = (word) => { console.log(word); process.exit(); };
    socket.once('data', () => say('something'));
    socket.once('close', () => say('nothing'));
    socket.write(Buffer.from(process.argv[2], 'hex'));`;
  const args = ['-e', program, path, secondHello(ticket).toString('hex')];
  return (await promisify(execFile)(process.execPath, args)).stdout.trim();
}

describe.runIf(shared !== undefined)('a terminal that the keeper leases', () => {
  test('is read and typed into from here, and the keeper has every byte', async () => {
    await using own = await OwnKeeper.start({}, { shared });
    await using client = clientOf(own);
    const { cat, got } = await leasedCat(client);
    for (const word of ['one', 'two', 'three']) await cat.write(Buffer.from(`${word}\n`));
    await expect.poll(() => got.text).toBe('ready\r\none\r\ntwo\r\nthree\r\n');
    expect(cat.process.foreground()?.name).toBe('cat');
    expect([cat.process.inputMode(), cat.process.longestLine?.(), cat.isLeased]).toEqual(['hidden', 4095, true]);
    await cat.durable.leave();
    expect(await own.listed()).toMatchObject([{ end: got.text.length, input: 14, seen: got.text.length }]);
  });

  test('while secrets are concealed the keeper reads and masks, and leases again when they are forgotten', async () => {
    const clock = new ManualClock();
    await using own = await OwnKeeper.start({}, { shared, clock });
    await using client = clientOf(own);
    const { cat: channel, got } = await leasedCat(client);
    channel.conceal('swordfish');
    expect(channel.isLeased).toBe(false);
    await channel.write(Buffer.from('<swordfish>\n'));
    await expect.poll(() => got.text).toBe('ready\r\n<•••>\r\n');
    expect(memories()).toContain('ready');
    expect(memories()).not.toContain('swordfish');
    await channel.write(Buffer.from('plain\n'));
    expect(channel.isLeased).toBe(false);
    clock.advance(5 * 60_000 + 100);
    await expect.poll(() => channel.isLeased).toBe(true);
    await channel.write(Buffer.from('direct\n'));
    await expect.poll(() => got.text).toBe('ready\r\n<•••>\r\nplain\r\ndirect\r\n');
  });

  test('a secret that is told while the terminal is on its way here is masked all the same', async () => {
    await using own = await OwnKeeper.start({}, { shared, clock: new ManualClock() });
    await using client = clientOf(own);
    await client.ready(soon());
    for (let round = 0; round < 20; round++) {
      const id = `aaa${(round + 16).toString(16)}`;
      const channel = await client.open(script('stty -echo; echo ready; read x; echo "<$x>"'), size, id, soon());
      const got = listen(channel);
      // Each time a little later: before it is leased, while it is, and after.
      for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setImmediate(resolve));
      channel.conceal('swordfish');
      await channel.write(Buffer.from('swordfish\n'));
      await channel.ended;
      expect(got.text.replace(/^.*ready\r\n/s, '')).toBe('<•••>\r\n');
    }
    expect(memories()).not.toContain('<swordfish');
  });

  test('a secret while output streams: nothing lost, nothing twice, nothing shown', async () => {
    await using own = await OwnKeeper.start({}, { shared, clock: new ManualClock() });
    await using client = clientOf(own);
    await client.ready(soon());
    const numbers = 'stty -echo -opost; read x; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "$i $x"; done';
    const channel = await client.open(script(numbers), size, 'aaaaa', soon());
    const got = listen(channel);
    await expect.poll(() => channel.isLeased).toBe(true);
    await channel.write(Buffer.from('hello\n'));
    await expect.poll(() => got.text).toContain('\n100 ');
    channel.conceal('hello');
    expect(await channel.ended).toEqual({ by: 'exit', code: 0 });
    expect(got.text.replaceAll('•••', 'hello')).toBe(
      Array.from({ length: 3000 }, (_, at) => `${at + 1} hello\n`).join(''),
    );
    expect(got.text.slice(got.text.indexOf('•••'))).not.toContain('hello');
  });

  test('input that waits for the program goes on through the keeper when the terminal is given back', async () => {
    await using own = await OwnKeeper.start({}, { shared, clock: new ManualClock() });
    await using client = clientOf(own);
    await client.ready(soon());
    const slow = 'stty raw -echo; echo ready; sleep 0.3; exec head -c 200000 | cksum';
    const channel = await client.open(script(slow), size, 'aaaaa', soon());
    const got = listen(channel);
    await expect.poll(() => [channel.isLeased, got.text.includes('ready')]).toEqual([true, true]);
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => 97 + (at % 26)));
    const writing = channel.write(bytes);
    channel.conceal('some secret');
    await writing;
    expect(await channel.ended).toEqual({ by: 'exit', code: 0 });
    // The checksum and the length, as cksum says them of these bytes.
    expect(got.text).toContain('1055559104 200000');
  });

  test('a client that does not ask, and a keeper that cannot, do as they always did', async () => {
    for (const [lease, calls] of [
      [false, shared],
      [true, undefined],
    ] as const) {
      await using own = await OwnKeeper.start({}, { shared: calls });
      await using client = clientOf(own, lease);
      await client.ready(soon());
      const channel = await client.open(script('echo hello; read x; echo "<$x>"; exit 4'), size, 'aaaaa', soon());
      const got = listen(channel);
      await expect.poll(() => got.text).toBe('hello\r\n');
      await channel.write(Buffer.from('there\n'));
      expect(await channel.ended).toEqual({ by: 'exit', code: 4 });
      expect(got.text).toBe('hello\r\nthere\r\n<there>\r\n');
      expect(channel.isLeased).toBe(false);
    }
  });

  test('no other client gets in while it is leased, not even under the number of the same process', async () => {
    await using own = await OwnKeeper.start({}, { shared });
    await using client = clientOf(own);
    const { cat, got } = await leasedCat(client);
    using second = await RawClient.connect(own.socket);
    second.hello(process.pid);
    expect(JSON.parse(Buffer.from((await second.until('refused')).body).toString())).toMatchObject({
      reason: 'busy',
      pid: process.pid,
    });
    await cat.write(Buffer.from('still\n'));
    await expect.poll(() => [cat.isLeased, got.text]).toEqual([true, 'ready\r\nstill\r\n']);
    cat.conceal('swordfish');
    // Accepted by the keeper, which has the terminal again.
    await cat.write(Buffer.from('there\n'));
    using third = await own.client();
    expect(third.got('refused')).toBeUndefined();
  });

  test('a secret that is told while the terminal is offered: it is not handed out', async () => {
    await using own = await OwnKeeper.start({}, { shared });
    using client = await own.client();
    // More than a connection holds: as long as nobody reads, the offer waits behind it.
    const [go, done] = [join(own.folder, 'go'), join(own.folder, 'done')];
    const much = `head -c 400000 /dev/zero | tr '\\0' x; echo; touch ${done}; read x; echo "<$x>"; sleep 60`;
    const waits = `stty -echo; until [ -e ${go} ]; do sleep 0.02; done; ${much}`;
    client.say('spawn', 'aaaaa', { ...script(waits), ...size });
    await client.until('spawned');
    client.socket.pause();
    writeFileSync(go, '');
    await expect.poll(() => existsSync(done)).toBe(true);
    await turns(50);
    using second = await RawClient.connect(own.socket);
    second.say('hello', '', { version: 1, pid: process.pid, ticket: ticketOf(client) });
    // The keeper is in this process: after some turns it has heard of it.
    await turns(50);
    client.say('conceal', 'aaaaa', Buffer.from('swordfish'));
    client.say('input', 'aaaaa', Buffer.from('swordfish\n'), 0);
    client.socket.resume();
    const shown = (): string =>
      Buffer.concat(client.frames.filter(({ type }) => type === frameTypes.data).map(({ body }) => body)).toString();
    await expect.poll(() => shown().slice(-20)).toMatch(/x\r\n<•••>\r\n$/);
    expect(client.got('lent')).toBeUndefined();
  });

  test('a mistake in handing it out costs the connection, and nothing that counted as sent', async () => {
    const mistakes: unknown[] = [];
    const send: SharedCalls['send'] = (...what) => {
      if (mistakes.length === 0) throw new TypeError('ours');
      return (shared as SharedCalls).send(...what);
    };
    const calls = { ...(shared as SharedCalls), send };
    await using own = await OwnKeeper.start({}, { shared: calls, complain: (error) => mistakes.push(error) });
    await using client = clientOf(own);
    const { cat, got } = await leasedCat(client);
    expect(mistakes).toEqual([new TypeError('ours')]);
    await cat.write(Buffer.from('still\n'));
    await expect.poll(() => got.text).toBe('ready\r\nstill\r\n');
  });

  test('descriptors are for the client alone: a wrong ticket or another process gets none', async () => {
    await using own = await OwnKeeper.start({}, { shared });
    using client = await own.client();
    client.say('spawn', 'aaaaa', { ...script('echo hello; sleep 60'), ...size });
    await client.until('spawned');
    const ticket = ticketOf(client);
    for (const wrong of ['', 'x'.repeat(ticket.length), ticket.slice(1)]) {
      expect(await bring(own.socket, wrong)).toBe('nothing');
    }
    expect(await bringFromAnotherProcess(own.socket, ticket)).toBe('nothing');
    expect(client.got('lent')).toBeUndefined();
    expect(await bring(own.socket, ticket)).toBe('something');
    await client.until('lent');
  });
});
