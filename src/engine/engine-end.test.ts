import { tmpdir } from 'node:os';
import { expect, test, vi } from 'vitest';
import { engineWith } from '../../test/support/engine.ts';
import { FairleadError } from '../contract/errors.ts';
import { EchoChannel } from '../../test/support/echo-channel.ts';
import { serviceKey } from './call/service.ts';
import { ByteQueue } from '../lib/byte-queue.ts';
import { deferred } from '../lib/deferred.ts';
import type { Channel, Ended } from './terminal/channel.ts';

test('R-TERM-140: what still runs when the time of the end is over is killed, although its own end hangs', async () => {
  const kill = vi.fn<NonNullable<Channel['kill']>>(async () => {});
  const endWithin = vi.fn<NonNullable<Channel['endWithin']>>(() => new Promise(() => {}));
  const channel: Channel = {
    output: new ByteQueue(1024, () => {}),
    ended: deferred<Ended>().promise,
    write: async () => {},
    kill,
    endWithin,
    [Symbol.asyncDispose]: () => new Promise(() => {}),
  };
  const engine = engineWith(tmpdir(), { stuck: async () => ({ channel, program: 'stuck' }) });
  await engine.open({ target: 'stuck', size: { cols: 80, rows: 24 } }, AbortSignal.timeout(10_000));
  await engine.end(900);
  expect(kill).toHaveBeenCalledExactlyOnceWith('KILL');
  // It had its time before that.
  expect(endWithin.mock.lastCall?.[0]).toBeGreaterThan(0);
});

const size = { cols: 80, rows: 24 };
const broken = async (): Promise<never> => {
  throw new RangeError('what was typed');
};

test('what fails at the end is logged and keeps nothing else from ending', async () => {
  const logged: string[] = [];
  const channels = [new EchoChannel(size), new EchoChannel(size), new EchoChannel(size)];
  const opening = [...channels];
  const key = serviceKey<AsyncDisposable>('parts');
  const part = { [Symbol.asyncDispose]: vi.fn<() => Promise<void>>(async () => {}) };
  const engine = engineWith(
    tmpdir(),
    { echo: async () => ({ channel: opening.shift() as Channel, program: 'echo' }) },
    { log: (line) => logged.push(line), parts: [[key, () => part]] },
  );
  for (const _channel of channels) await engine.open({ target: 'echo', size }, AbortSignal.timeout(10_000));
  engine.service(key);
  vi.spyOn(engine.sessions, Symbol.asyncDispose).mockImplementation(broken);
  vi.spyOn(engine.recordings, Symbol.asyncDispose).mockImplementation(broken);
  Object.assign(channels[0] as object, { [Symbol.asyncDispose]: broken });
  await engine[Symbol.asyncDispose]();
  expect(await Promise.all(channels.slice(1).map(({ ended }) => ended))).toHaveLength(2);
  expect([engine.terminals, part[Symbol.asyncDispose].mock.calls]).toEqual([[], [[]]]);
  expect(logged.map((line) => / in (.*?):/.exec(line)?.[1])).toEqual([
    'the end of the sessions',
    'the end of the recordings',
    'the end of a terminal',
  ]);
  expect(logged.join('\n')).not.toContain('what was typed');
});

test('work in the background that fails is logged, and what was only cancelled is not', async () => {
  const logged: string[] = [];
  await using engine = engineWith(tmpdir(), {}, { log: (line) => logged.push(line) });
  engine.background(broken());
  engine.background(Promise.reject(new FairleadError('cancelled', 'left')));
  await expect.poll(() => logged).toMatchObject([/incident .* in the background: RangeError/]);
});
