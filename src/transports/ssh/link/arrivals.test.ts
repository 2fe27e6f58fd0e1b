import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteQueue } from '../../../lib/byte-queue.ts';
import { Arrivals } from './arrivals.ts';
import type { StreamName } from './link.ts';

function pair() {
  const queues = { stdout: new ByteQueue(1), stderr: new ByteQueue(1) };
  const arrivals = new Arrivals(queues.stdout, queues.stderr);
  return {
    queues,
    arrivals,
    push: (stream: StreamName, byte: number): void => {
      queues[stream].push(Uint8Array.of(byte));
      arrivals.came(stream);
    },
    end: (): void => {
      queues.stdout.end();
      queues.stderr.end();
      arrivals.end();
    },
  };
}

test('however chunks of both streams come, in one turn or in many, they are read in that order', async () => {
  const step = fc.record({ stream: fc.constantFrom<StreamName>('stdout', 'stderr'), pause: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { arrivals, push, end } = pair();
      const seen: [string, number][] = [];
      const reading = (async () => {
        for await (const { stream, bytes } of arrivals) seen.push([stream, bytes[0] as number]);
      })();
      for (const [index, { stream, pause }] of steps.entries()) {
        push(stream, index);
        if (pause) await Promise.resolve();
      }
      end();
      await reading;
      expect(seen).toEqual(steps.map(({ stream }, index) => [stream, index]));
    }),
  );
});

test('a reader that leaves turns both queues into sinks', async () => {
  const { arrivals, push, queues } = pair();
  push('stdout', 1);
  push('stderr', 2);
  for await (const { bytes } of arrivals) {
    expect(bytes[0]).toBe(1);
    break;
  }
  push('stderr', 3);
  expect([queues.stdout.size, queues.stderr.size]).toEqual([0, 0]);
});
