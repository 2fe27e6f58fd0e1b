import { EventEmitter } from 'node:events';
import { Duplex } from 'node:stream';
import type { Client } from 'ssh2';
import { expect, test } from 'vitest';
import { dropWhenUnread } from './unsent.ts';

/** A connection that takes nothing, and the client on it. */
function setUp() {
  const stream = new Duplex({ read() {}, write() {} });
  const protocol: { _queue: Uint8Array[] | undefined } = { _queue: undefined };
  const client = Object.assign(new EventEmitter(), { _protocol: protocol });
  const errors: string[] = [];
  client.on('error', (error: Error) => errors.push(error.message));
  dropWhenUnread(client as unknown as Client, stream);
  /** Something comes from the server; what it makes ssh2 answer has been written by then. */
  const hear = (): void => void stream.emit('data', Buffer.of(1));
  return { stream, protocol, errors, hear };
}

const dropped = ['the server reads nothing of what is sent to it'];

test('8 MiB that the connection does not take are borne, one byte more is not', () => {
  const { stream, errors, hear } = setUp();
  stream.write(Buffer.alloc(8 << 20));
  hear();
  expect([errors, stream.destroyed]).toEqual([[], false]);
  stream.write(Buffer.of(1));
  hear();
  hear();
  expect([errors, stream.destroyed]).toEqual([dropped, true]);
});

test('answers that wait for a key exchange which never ends count, tiny ones with what they take besides', () => {
  const { stream, protocol, errors, hear } = setUp();
  protocol._queue = Array.from({ length: 100_000 }, () => Buffer.of(1));
  hear();
  expect(errors).toEqual([]);
  for (let count = 0; count < 30_000; count += 1) protocol._queue.push(Buffer.of(1));
  hear();
  expect([errors, stream.destroyed]).toEqual([dropped, true]);
});

test('a key exchange that ends lets go of what waited', () => {
  const { protocol, errors, hear } = setUp();
  for (let round = 0; round < 5; round += 1) {
    protocol._queue = [Buffer.alloc(5 << 20)];
    hear();
    protocol._queue = undefined;
    hear();
  }
  expect(errors).toEqual([]);
});
