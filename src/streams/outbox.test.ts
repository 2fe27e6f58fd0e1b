import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asked, StreamBench, told } from '../../test/support/streams/stream-bench.ts';
import { Outbox } from './outbox.ts';

const signal = new AbortController().signal;

test('of two that change all the time neither is told of twice running (remote 4.5)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.subarray(['a', 'b'], { minLength: 1 }), { minLength: 1, maxLength: 40 }),
      async (rounds) => {
        const outbox = new Outbox();
        const order: string[] = [];
        const notes = outbox.notes(signal);
        for (const between of rounds) {
          // Both are dirty before each turn, however often each of them changed.
          for (const name of ['a', 'b', ...between]) outbox.add(name);
          const { value } = await notes.next();
          if (value) order.push(value.name);
        }
        for (const [at, name] of order.entries()) expect(name).not.toBe(order[at + 1]);
      },
    ),
    { numRuns: 500 },
  );
});

test('a name waits once, keeps its place, and a change counts for more than a sign of life', async () => {
  const outbox = new Outbox();
  outbox.add('a', true);
  outbox.add('b');
  outbox.add('a');
  outbox.add('b', true);
  outbox.add('c', true);
  expect(outbox.size).toBe(3);
  const notes = outbox.notes(signal);
  const taken = [await notes.next(), await notes.next(), await notes.next()].map(({ value }) => value);
  expect(taken).toEqual([
    { name: 'a', isKeepalive: false },
    { name: 'b', isKeepalive: false },
    { name: 'c', isKeepalive: true },
  ]);
});

test('a reader that waits is woken by a name, and by its signal even when another reader came', async () => {
  const outbox = new Outbox();
  const [first, second] = [new AbortController(), new AbortController()];
  const [one, other] = [outbox.notes(first.signal).next(), outbox.notes(second.signal).next()];
  first.abort();
  expect((await one).done).toBe(true);
  outbox.add('a');
  expect((await other).value).toEqual({ name: 'a', isKeepalive: false });
});

test('a client that never pulls costs one name for each URI, whatever happens there (remote 6: SSH_MUX_BUFFER)', async () => {
  const bench = new StreamBench({ flushBytes: 1024 });
  const peer = bench.peer();
  const resources = Array.from({ length: 10 }, (_, at) => bench.resource(`r${at}`));
  for (const { id } of resources) bench.streams.subscribe(`shell://${id}/output`, asked(peer));
  for (let round = 0; round < 500; round += 1) for (const one of resources) one.say('x'.repeat(2048));
  // The list changed as well.
  expect(peer.waiting).toBe(11);
  const notes = await told(peer);
  expect(notes.map((note) => note.kind)).toEqual(['listed', ...resources.map(() => 'updated')]);
  expect(peer.waiting).toBe(0);
});

test('a note at which a client stops comes again: its connection broke before it was sent', async () => {
  const bench = new StreamBench();
  const [resource, peer] = [bench.resource('a'), bench.peer('listener')];
  bench.streams.subscribe('shell://a/output', asked(peer));
  resource.say('one');
  bench.clock.advance(200);
  for await (const note of peer.notes(signal)) {
    expect(note.kind).toBe('updated');
    break;
  }
  expect((await told(peer)).length).toBe(1);
  expect(await told(peer)).toEqual([]);
});
