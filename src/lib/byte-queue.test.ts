import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteQueue } from './byte-queue.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

async function readAll(queue: ByteQueue): Promise<number[]> {
  const all: number[] = [];
  for await (const chunk of queue) all.push(...chunk);
  return all;
}

describe('ByteQueue', () => {
  it('hands over every byte once and in order, however pushes and pulls interleave', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.uint8Array({ maxLength: 9 }), fc.boolean())), async (steps) => {
        const queue = new ByteQueue(8);
        const reading = readAll(queue);
        for (const [chunk, pause] of steps) {
          queue.push(chunk.slice());
          if (pause) await Promise.resolve();
        }
        queue.end();
        expect(await reading).toEqual(steps.flatMap(([chunk]) => [...chunk]));
      }),
    );
  });

  it('answers false at the bound, keeps the byte all the same, and says once when there is room', async () => {
    let drained = 0;
    const queue = new ByteQueue(4, () => {
      drained += 1;
    });
    expect(queue.push(bytes(1, 2))).toBe(true);
    expect(queue.push(bytes(3, 4))).toBe(false);
    expect(queue.push(bytes(5))).toBe(false);
    expect([queue.size, queue.full]).toEqual([5, true]);
    const reader = queue[Symbol.asyncIterator]();
    await reader.next();
    expect(drained).toBe(0);
    await reader.next();
    expect([drained, queue.full]).toEqual([1, false]);
    await reader.next();
    expect(drained).toBe(1);
  });

  it('never fills up while its reader is waiting', async () => {
    const queue = new ByteQueue(1);
    const reader = queue[Symbol.asyncIterator]();
    const next = reader.next();
    expect(queue.push(bytes(1, 2, 3))).toBe(true);
    expect((await next).value).toEqual(bytes(1, 2, 3));
  });

  it('finishes a waiting reader at the end, and a late one after what is left', async () => {
    const waited = new ByteQueue(4);
    const reading = readAll(waited);
    waited.end();
    expect(await reading).toEqual([]);
    const late = new ByteQueue(4);
    late.push(bytes(1));
    late.end();
    late.end();
    expect(late.push(bytes(2))).toBe(true);
    expect(await readAll(late)).toEqual([1]);
  });

  it('becomes a sink when its reader leaves, so that no producer waits for it', async () => {
    let drained = 0;
    const queue = new ByteQueue(2, () => {
      drained += 1;
    });
    queue.push(bytes(1, 2));
    queue.push(bytes(3, 4));
    for await (const chunk of queue) {
      expect(chunk).toEqual(bytes(1, 2));
      break;
    }
    expect(drained).toBe(1);
    expect(queue.push(new Uint8Array(100))).toBe(true);
    expect(queue.size).toBe(0);
  });

  it('gives each chunk back when its reader asks for the next one, not before', async () => {
    const released: number[] = [];
    const queue = new ByteQueue(
      9,
      () => {},
      (chunk) => released.push(...chunk),
    );
    queue.push(bytes(1));
    queue.push(bytes(2));
    const reader = queue[Symbol.asyncIterator]();
    await reader.next();
    expect(released).toEqual([]);
    await reader.next();
    expect(released).toEqual([1]);
    const waiting = reader.next();
    expect(released).toEqual([1, 2]);
    queue.push(bytes(3));
    await waiting;
    await reader.return?.();
    expect(released).toEqual([1, 2, 3]);
  });

  it('has one reader', () => {
    const queue = new ByteQueue(1);
    queue[Symbol.asyncIterator]();
    expect(() => queue[Symbol.asyncIterator]()).toThrow('one reader');
  });

  describe('consume', () => {
    it('hands over every byte once and in order, whenever the sink asks to wait', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ chunk: fc.uint8Array({ maxLength: 9 }), waits: fc.boolean(), pause: fc.boolean() })),
          fc.nat(3),
          async (steps, before) => {
            const queue = new ByteQueue(8);
            const got: number[] = [];
            let calls = 0;
            let reading: Promise<void> | undefined;
            const read = (): Promise<void> =>
              queue.consume((chunk) => {
                got.push(...chunk);
                return steps[calls++]?.waits ? Promise.resolve() : undefined;
              });
            for (const [index, { chunk, pause }] of steps.entries()) {
              if (index === before) reading = read();
              queue.push(chunk.slice());
              if (pause) await Promise.resolve();
            }
            queue.end();
            await (reading ?? read());
            expect(got).toEqual(steps.flatMap(({ chunk }) => [...chunk]));
          },
        ),
      );
    });

    it('takes a chunk within the push, gives it back, and keeps what comes from within for after', async () => {
      const released: number[] = [];
      const seen: string[] = [];
      const queue = new ByteQueue(
        9,
        () => {},
        (chunk) => released.push(...chunk),
      );
      const reading = queue.consume(([first = 0]) => {
        seen.push(`>${first}`);
        if (first === 1) queue.push(bytes(2));
        if (first === 2) queue.end();
        seen.push(`<${first}`);
        return undefined;
      });
      queue.push(bytes(1));
      expect(seen).toEqual(['>1', '<1', '>2', '<2']);
      expect(released).toEqual([1, 2]);
      await reading;
    });

    it('stops the producer while the sink waits, and lets it go on', async () => {
      let drained = 0;
      const queue = new ByteQueue(2, () => {
        drained += 1;
      });
      let goOn = (): void => {};
      const waiting = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      let taken = 0;
      const reading = queue.consume(() => (taken++ === 0 ? waiting : undefined));
      expect(queue.push(bytes(1))).toBe(true);
      expect(queue.push(bytes(2, 3))).toBe(false);
      expect([taken, drained]).toEqual([1, 0]);
      goOn();
      await waiting;
      expect([taken, drained, queue.full]).toEqual([2, 1, false]);
      queue.end();
      await reading;
    });

    it('becomes a sink when the reader throws, and says so', async () => {
      const queue = new ByteQueue(1);
      const reading = queue.consume(() => {
        throw new Error('enough');
      });
      expect(queue.push(bytes(1))).toBe(true);
      expect(queue.push(bytes(2))).toBe(true);
      await expect(reading).rejects.toThrow('enough');
    });
  });
});
