import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { KeeperClient } from '../../../../src/transports/local/keeper/client/keeper-client.ts';
import { KeeperTerminal } from '../../../../src/transports/local/keeper/server/keeper-terminal.ts';
import type { KeeperChannel } from '../../../../src/transports/local/keeper/client/keeper-channel.ts';
import { limit } from '../../../support/engine.ts';
import { KeeperLinks } from '../../../support/keeper/links.ts';
import { env, isAlive, size } from '../../../support/keeper/keeper.ts';
import { OwnKeeper } from '../../../support/keeper/own-keeper.ts';

/** Collects what a channel prints. */
function read(channel: KeeperChannel): { text: string } {
  const got = { text: '' };
  channel.output
    .consume((bytes) => void (got.text += Buffer.from(bytes).toString()))
    .catch(() => {
      got.text += ' broke off';
    });
  return got;
}

/** Our mistake: this word cannot be taken, the first `times` that it comes. */
function mistakeWith(channel: KeeperChannel, word: string, times: number): void {
  const data = channel.data.bind(channel);
  let made = 0;
  channel.data = (bytes, offset) => {
    if (Buffer.from(bytes).includes(word) && made++ < times) throw new TypeError('what was printed');
    data(bytes, offset);
  };
}

/** A client with two terminals: one prints the word when it is told to. */
async function twoTerminals(own: OwnKeeper, logged: string[]) {
  const { folder, socket } = own;
  const client = new KeeperClient(
    { folder, socket, lock: join(folder, 'lock'), log: join(folder, 'log') },
    { lease: false, log: (line) => logged.push(line) },
  );
  const other = await client.open({ argv: ['cat'], env }, size, 'other', limit());
  const saying = await client.open(
    { argv: ['sh', '-c', 'read go; echo BO""OM; exec cat'], env },
    size,
    'saying',
    limit(),
  );
  return { client, other, saying };
}

describe.runIf(process.platform === 'linux')('frames that cannot be heard', () => {
  test('a mistake of ours with what the keeper says is made good by a new connection', async () => {
    const logged: string[] = [];
    using links = new KeeperLinks();
    await using own = await OwnKeeper.start();
    const { client, saying } = await twoTerminals(own, logged);
    await using _client = client;
    const got = read(saying);
    mistakeWith(saying, 'BOOM', 1);
    await saying.write(Buffer.from('\r'));
    await expect.poll(() => got.text).toBe('\r\nBOOM\r\n');
    expect(links.count).toBe(2);
    expect(logged).toEqual([
      expect.stringMatching(/^incident \w{8} in what the keeper said of terminal saying: TypeError/),
    ]);
  });

  test('made again, it costs that terminal and no other: its program runs on, for the next process', async () => {
    const logged: string[] = [];
    using links = new KeeperLinks();
    await using own = await OwnKeeper.start();
    const { client, saying, other } = await twoTerminals(own, logged);
    const [got, gone] = [read(other), read(saying)];
    mistakeWith(saying, 'BOOM', Number.POSITIVE_INFINITY);
    await saying.write(Buffer.from('\r'));
    expect(await saying.ended).toMatchObject({ by: 'lost', reason: expect.stringContaining('runs on') });
    await other.write(Buffer.from('hello\r'));
    await expect.poll(() => got.text).toContain('hello\r\nhello\r\n');
    expect([links.count, logged.length]).toEqual([3, 2]);
    expect(gone.text).not.toContain('BOOM');
    expect(isAlive(saying.process.pid)).toBe(true);
    await client[Symbol.asyncDispose]();
    const listed = await own.listed();
    expect(listed.map(({ id, ended }) => [id, ended])).toEqual([
      ['other', undefined],
      ['saying', undefined],
    ]);
  });

  test('what the keeper cannot hear even the second time it leaves out, and hears the rest', async () => {
    const complaints: unknown[] = [];
    await using own = await OwnKeeper.start({}, { complain: (thrown) => complaints.push(thrown) });
    {
      using first = await own.client();
      first.say('spawn', 'aaaaa', { argv: ['cat'], env, ...size });
      await first.until('spawned');
      const spy = vi.spyOn(KeeperTerminal.prototype, 'type').mockImplementation(() => {
        throw new TypeError('ours');
      });
      onTestFinished(() => spy.mockRestore());
      first.say('input', 'aaaaa', Buffer.from('x'), 0);
      await first.closed;
    }
    using again = await own.client();
    for (let times = 0; times < 20; times += 1) again.say('input', 'aaaaa', Buffer.from('x'), 0);
    again.say('ping');
    await again.until('pong');
    // As many as help.
    expect(complaints).toHaveLength(10);
  });
});
