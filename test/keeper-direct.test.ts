import { closeSync, readFileSync, readdirSync, readlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KeeperClient } from '../src/transports/local/keeper/client.ts';
import { frame } from '../src/transports/local/keeper/frames.ts';
import type { KeptChannel } from '../src/transports/local/keeper/kept-channel.ts';
import { encode } from '../src/transports/local/keeper/messages.ts';
import { loadSharedCalls } from '../src/transports/local/shared-calls.ts';
import { env, size, soon } from './support/keeper.ts';
import { OwnKeeper } from './support/own-keeper.ts';
import { RawClient } from './support/raw-keeper-client.ts';
import { ManualClock } from './support/screen.ts';

const shared = await loadSharedCalls();
const script = (text: string) => ({ argv: ['sh', '-c', text] as const, env });

function clientOf(own: OwnKeeper, direct = true): KeeperClient {
  const { folder, socket } = own;
  return new KeeperClient({ folder, socket, lock: join(folder, 'lock'), log: join(folder, 'log') }, { direct });
}

/** All the output there is, whenever it comes. */
function collect(channel: KeptChannel): { text: string } {
  const got = { text: '' };
  channel.output
    .consume((chunk) => {
      got.text += Buffer.from(chunk).toString();
      return undefined;
    })
    .catch(() => {});
  return got;
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

describe.runIf(shared !== undefined)('a terminal the keeper lends', () => {
  test('is read and typed into from here, and the keeper has every byte', async () => {
    await using own = await OwnKeeper.start({}, { shared });
    await using client = clientOf(own);
    await client.ready(soon());
    const cat = await client.open(script('stty -echo; echo ready; exec cat'), size, 'aaaaa', soon());
    const got = collect(cat);
    await expect.poll(() => [cat.isDirect, got.text]).toEqual([true, 'ready\r\n']);
    for (const word of ['one', 'two', 'three']) await cat.write(Buffer.from(`${word}\n`));
    await expect.poll(() => got.text).toBe('ready\r\none\r\ntwo\r\nthree\r\n');
    expect(cat.process.foreground()?.name).toBe('cat');
    expect([cat.process.echo(), cat.isDirect]).toEqual([false, true]);
    await cat.memory.leave();
    expect(await own.listed()).toMatchObject([{ end: got.text.length, input: 14, seen: got.text.length }]);
  });

  test('while secrets are concealed the keeper reads and masks, and lends again when they are forgotten', async () => {
    const clock = new ManualClock();
    await using own = await OwnKeeper.start({}, { shared, clock });
    await using client = clientOf(own);
    await client.ready(soon());
    const channel = await client.open(script('stty -echo; echo ready; exec cat'), size, 'aaaaa', soon());
    const got = collect(channel);
    await expect.poll(() => [channel.isDirect, got.text]).toEqual([true, 'ready\r\n']);
    channel.conceal('swordfish');
    expect(channel.isDirect).toBe(false);
    await channel.write(Buffer.from('<swordfish>\n'));
    await expect.poll(() => got.text).toBe('ready\r\n<•••>\r\n');
    expect(memories()).toContain('ready');
    expect(memories()).not.toContain('swordfish');
    await channel.write(Buffer.from('plain\n'));
    expect(channel.isDirect).toBe(false);
    clock.advance(5 * 60_000 + 100);
    await expect.poll(() => channel.isDirect).toBe(true);
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
      const got = collect(channel);
      // Each time a little later: before it is lent, while it is, and after.
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
    const got = collect(channel);
    await expect.poll(() => channel.isDirect).toBe(true);
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
    const got = collect(channel);
    await expect.poll(() => [channel.isDirect, got.text.includes('ready')]).toEqual([true, true]);
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => 97 + (at % 26)));
    const writing = channel.write(bytes);
    channel.conceal('some secret');
    await writing;
    expect(await channel.ended).toEqual({ by: 'exit', code: 0 });
    // The checksum and the length, as cksum says them of these bytes.
    expect(got.text).toContain('1055559104 200000');
  });

  test('a client that does not ask, and a keeper that cannot, do as they always did', async () => {
    for (const [direct, calls] of [
      [false, shared],
      [true, undefined],
    ] as const) {
      await using own = await OwnKeeper.start({}, { shared: calls });
      await using client = clientOf(own, direct);
      await client.ready(soon());
      const channel = await client.open(script('echo hello; read x; echo "<$x>"; exit 4'), size, 'aaaaa', soon());
      const got = collect(channel);
      await expect.poll(() => got.text).toBe('hello\r\n');
      await channel.write(Buffer.from('there\n'));
      expect(await channel.ended).toEqual({ by: 'exit', code: 4 });
      expect(got.text).toBe('hello\r\nthere\r\n<there>\r\n');
      expect(channel.isDirect).toBe(false);
    }
  });

  test('nobody gets in while it is lent, not even under the number of the same process', async () => {
    await using own = await OwnKeeper.start({}, { shared });
    await using client = clientOf(own);
    await client.ready(soon());
    const cat = await client.open(script('stty -echo; echo ready; exec cat'), size, 'aaaaa', soon());
    const got = collect(cat);
    await expect.poll(() => [cat.isDirect, got.text]).toEqual([true, 'ready\r\n']);
    using second = await RawClient.connect(own.socket);
    second.hello(process.pid);
    expect(JSON.parse(Buffer.from((await second.until('refused')).body).toString())).toMatchObject({
      reason: 'busy',
      pid: process.pid,
    });
    await cat.write(Buffer.from('still\n'));
    await expect.poll(() => [cat.isDirect, got.text]).toEqual([true, 'ready\r\nstill\r\n']);
    cat.conceal('swordfish');
    // Accepted by the keeper, which has the terminal again.
    await cat.write(Buffer.from('there\n'));
    using third = await own.client();
    expect(third.got('refused')).toBeUndefined();
  });

  test('descriptors are for the client alone: another connection gets none, with or without a ticket', async () => {
    await using own = await OwnKeeper.start({}, { shared });
    using client = await own.client();
    client.say('spawn', 'aaaaa', { ...script('echo hello; sleep 60'), ...size });
    await client.until('spawned');
    for (const ticket of ['', 'x'.repeat(32)]) {
      const socket = shared?.connect(own.socket) ?? -1;
      writeSync(socket, frame('hello', '', encode({ version: 1, pid: process.pid, ticket })));
      client.say('ping');
      await client.until('pong');
      await expect.poll(() => shared?.receive(socket)).toBeUndefined();
      closeSync(socket);
    }
    await expect.poll(() => client.got('data')).toBeDefined();
    expect(client.got('lent')).toBeUndefined();
  });
});
