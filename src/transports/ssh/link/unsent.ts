import type { Duplex } from 'node:stream';
import type { Client } from 'ssh2';
import { insideClient } from './ssh2-internals.ts';

/** Our own writers stay far below it: they wait for the connection (process.ts). What goes beyond are answers. */
const mostUnsent = 8 << 20;
/** What a packet in a queue takes besides its bytes. */
const packetCost = 64;

/**
 * Drops a connection whose server asks and asks but reads no answer: ssh2 answers every request at once, and keeps what
 * the connection does not take.
 */
export function dropWhenUnread(client: Client, stream: Duplex): void {
  const { _protocol } = insideClient(client);
  let queue: readonly Uint8Array[] | undefined;
  let counted = 0;
  let held = 0;
  /** What waits for the end of a key exchange. A server can let that wait for ever. */
  const heldBack = (): number => {
    if (queue !== _protocol._queue) [queue, counted, held] = [_protocol._queue, 0, 0];
    for (; queue !== undefined && counted < queue.length; counted += 1)
      held += packetCost + (queue[counted]?.length ?? 0);
    return held;
  };
  const check = (): void => {
    if (stream.writableLength + heldBack() <= mostUnsent) return;
    stream.off('data', check);
    client.emit('error', new Error('the server reads nothing of what is sent to it'));
    stream.destroy();
  };
  stream.on('data', check);
}
