import { expect, test } from 'vitest';
import { FairleadError } from '../../contract/errors.ts';
import { deferred } from '../../lib/deferred.ts';
import { InputQueue } from './input-queue.ts';

const never = new AbortController().signal;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A far side that accepts a piece when told to. */
function farSide(options: { readonly max?: number } = {}) {
  const written: string[] = [];
  const gates: (() => void)[] = [];
  let open = false;
  const queue = new InputQueue({
    async write(piece) {
      if (!open) {
        const gate = deferred();
        gates.push(() => gate.resolve());
        await gate.promise;
      }
      written.push(new TextDecoder().decode(piece));
    },
    maxPendingBytes: options.max ?? 1 << 20,
  });
  return {
    queue,
    written,
    text: () => written.join(''),
    acceptAll: () => ((open = true), gates.splice(0).forEach((gate) => gate())),
  };
}

test('bodies of concurrent senders never interleave (R-HUB-094)', async () => {
  const { queue, text, acceptAll } = farSide();
  const bodies = ['a', 'b', 'c'].map((letter) => letter.repeat(10_000));
  const sends = bodies.map((body) => queue.send(bytes(body), never));
  acceptAll();
  await Promise.all(sends);
  expect(text()).toBe(bodies.join(''));
});

test('bodies go in pieces of at most 4 KiB (R-TERM-040)', async () => {
  const { queue, written, acceptAll } = farSide();
  acceptAll();
  await queue.send(bytes('x'.repeat(10_000)), never);
  expect(written.map((piece) => piece.length)).toEqual([4096, 4096, 1808]);
});

test('Ctrl-C overtakes what waits, and its senders are told', async () => {
  const { queue, text, acceptAll } = farSide();
  const current = queue.send(bytes('x'.repeat(10_000)), never);
  const waiting = queue.send(bytes('later'), never);
  const interrupt = queue.interrupt(Uint8Array.of(3), never);
  await expect(current).rejects.toMatchObject({
    code: 'cancelled',
    message: expect.stringContaining('only a part of 10000'),
  });
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled', message: expect.stringContaining('nothing of 5') });
  acceptAll();
  await interrupt;
  expect(text()).toBe(`${'x'.repeat(4096)}\x03`);
});

test('a far side that does not read cannot fill memory', async () => {
  const { queue, acceptAll } = farSide({ max: 100 });
  const first = queue.send(bytes('x'.repeat(100)), never);
  await expect(queue.send(bytes('y'), never)).rejects.toMatchObject({ code: 'limit_reached' });
  acceptAll();
  await first;
  await queue.send(bytes('z'), never);
});

test('a caller that hangs up before its turn types nothing', async () => {
  const { queue, text, acceptAll } = farSide();
  const caller = new AbortController();
  const first = queue.send(bytes('first'), never);
  const second = queue.send(bytes('second'), caller.signal);
  caller.abort();
  await expect(second).rejects.toMatchObject({ code: 'cancelled' });
  acceptAll();
  await first;
  expect(text()).toBe('first');
  expect(queue.pendingBytes).toBe(0);
});

test('closing refuses what waits and what comes', async () => {
  const { queue } = farSide();
  const current = queue.send(bytes('a'), never).catch((error: FairleadError) => error.message);
  const waiting = queue.send(bytes('b'), never);
  queue.close(new FairleadError('terminal_exited', 'gone'));
  await expect(waiting).rejects.toThrow('gone');
  await expect(queue.send(bytes('c'), never)).rejects.toThrow('gone');
  expect(await Promise.race([current, Promise.resolve('still waiting')])).toBe('gone');
});

test('a turn keeps the lane over its pauses; others wait (R-HUB-094)', async () => {
  const { queue, text, acceptAll } = farSide();
  acceptAll();
  const pause = deferred();
  const turn = queue.turn(
    2,
    async (lane) => {
      await lane.write(bytes('a'));
      await pause.promise;
      await lane.write(bytes('b'));
      return 'done';
    },
    never,
  );
  const other = queue.send(bytes('c'), never);
  await Promise.resolve();
  expect(queue.pendingBytes).toBe(3);
  pause.resolve();
  expect(await turn).toBe('done');
  await other;
  expect(text()).toBe('abc');
  expect(queue.pendingBytes).toBe(0);
});

test('Ctrl-C ends a turn in its pause, and nothing of it comes after', async () => {
  const { queue, text, acceptAll } = farSide();
  acceptAll();
  const writing = deferred();
  const turn = queue.turn(
    2,
    async (lane) => {
      await lane.write(bytes('a'));
      writing.resolve();
      await new Promise((resolve) => lane.signal.addEventListener('abort', resolve));
      await lane.write(bytes('b'));
    },
    never,
  );
  await writing.promise;
  await Promise.all([
    expect(turn).rejects.toMatchObject({ code: 'cancelled' }),
    queue.interrupt(Uint8Array.of(3), never),
  ]);
  expect(text()).toBe('a\x03');
});

test('whoever asks only after Ctrl-C whether his turn is over is told so', async () => {
  const { queue, acceptAll } = farSide();
  acceptAll();
  const writing = deferred();
  const interrupted = deferred();
  let over: boolean | undefined;
  const turn = queue.turn(
    1,
    async (lane) => {
      await lane.write(bytes('a'));
      writing.resolve();
      await interrupted.promise;
      over = lane.signal.aborted;
    },
    never,
  );
  await writing.promise;
  const told = expect(turn).rejects.toMatchObject({ code: 'cancelled' });
  const interrupt = queue.interrupt(Uint8Array.of(3), never);
  interrupted.resolve();
  await Promise.all([told, interrupt]);
  expect(over).toBe(true);
});

test('a turn that fails lets the next one through', async () => {
  const { queue, text, acceptAll } = farSide();
  acceptAll();
  const wrong = new FairleadError('conflict', 'not now');
  await expect(queue.turn(1, () => Promise.reject(wrong), never)).rejects.toBe(wrong);
  await queue.send(bytes('next'), never);
  expect(text()).toBe('next');
});
