import { once } from 'node:events';
import { FairleadError } from '../../../contract/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { deferred } from '../../../lib/deferred.ts';
import { errorBody, safeHeaders, jsonText } from '../reply.ts';
import type { HttpVisit } from '../route.ts';

/** A stream whose first item takes longer begins without it, so that its client knows that it is open. */
const openMs = 500;
/** Often enough for proxies that close connections after a silent minute. */
const heartbeatMs = 15_000;
/** A client that reads nothing for this long is given up. */
const stuckMs = 60_000;

/**
 * Items as server-sent events. The next item is made when the last one is on its way, so a slow reader is sent the newest state instead
 * of a queue. Rejects only before the first byte; later failures become an event of their own.
 */
export async function sendEvents(
  items: AsyncGenerator<unknown, void, void>,
  { response, gone }: HttpVisit,
  clock: Clock,
): Promise<void> {
  const first = items.next();
  await settledOrSlow(first, clock);
  response.writeHead(200, { ...safeHeaders, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  response.flushHeaders();
  const write = async (event: string): Promise<void> => {
    if (response.write(event) || gone.aborted) return;
    using _limit = clock.after(stuckMs, () => response.destroy());
    await once(response, 'drain', { signal: gone });
  };
  let heartbeat: Disposable | undefined;
  const beat = (): void => {
    heartbeat = clock.after(heartbeatMs, beat);
    if (!response.writableNeedDrain) response.write(':\n\n');
  };
  heartbeat = clock.after(heartbeatMs, beat);
  try {
    for (let next = await first; next.done !== true; next = await items.next()) {
      await write(`data: ${jsonText(next.value)}\n\n`);
    }
    await write('event: end\ndata: {}\n\n');
  } catch (thrown) {
    if (gone.aborted) return;
    const error = thrown instanceof FairleadError ? thrown : new FairleadError('internal', 'Internal error.');
    response.write(`event: failure\ndata: ${jsonText(errorBody(error))}\n\n`);
  } finally {
    heartbeat[Symbol.dispose]();
    await items.return();
    response.end();
  }
}

/** Rejects when the stream fails before it has begun. */
async function settledOrSlow(first: Promise<unknown>, clock: Clock): Promise<void> {
  const slow = deferred();
  using _limit = clock.after(openMs, () => slow.resolve());
  await Promise.race([first, slow.promise]);
}
