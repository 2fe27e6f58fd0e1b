import { tmpdir } from 'node:os';
import { expect, test, vi } from 'vitest';
import { engineWith } from '../../test/support/engine.ts';
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
