import { describe, expect, it } from 'vitest';
import type { Channel } from '../../src/engine/terminal/channel.ts';

/** The far sides every transport must be able to offer for this test. */
export interface FarSides {
  /** Says `ready` and a newline, then repeats every byte it is sent, unchanged and unbuffered, until it is ended. */
  repeat(): Promise<Channel>;
  /** Says the numbers from 1 to `count`, each with a newline after it, then ends with this exit code. */
  count(count: number, code: number): Promise<Channel>;
  /** Says `ready` and a newline; told to end, it takes this many seconds and then exits with 7. Where there is `endWithin`. */
  save?(seconds: number): Promise<Channel>;
}

/** The script of a far side that saves its work. */
export const saving = (seconds: number): string =>
  `stty -opost; trap 'sleep ${seconds}; exit 7' HUP TERM; echo ready; while :; do sleep 0.05; done`;

const numbers = (count: number): string => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('');

/** Collects a channel's output; copies, because a chunk's memory may be reused. */
class Reader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #seen = Buffer.alloc(0);

  constructor(channel: Channel) {
    this.#chunks = channel.output[Symbol.asyncIterator]();
  }

  /** Drops what was read before, and waits until that many bytes came. */
  async take(length: number): Promise<Buffer> {
    const parts = [this.#seen];
    let have = this.#seen.length;
    while (have < length) {
      const { done, value } = await this.#chunks.next();
      if (done === true) break;
      parts.push(Buffer.from(value));
      have += value.length;
    }
    const all = Buffer.concat(parts);
    this.#seen = all.subarray(length);
    return all.subarray(0, length);
  }

  rest(): Promise<Buffer> {
    return this.take(Number.POSITIVE_INFINITY);
  }

  async leave(): Promise<void> {
    await this.#chunks.return?.();
  }
}

async function started(far: FarSides): Promise<{ channel: Channel; reader: Reader }> {
  const channel = await far.repeat();
  const reader = new Reader(channel);
  expect((await reader.take(6)).toString()).toBe('ready\n');
  return { channel, reader };
}

/** Resolves when the value has stopped changing: what is stuck stays, what is only slow does not. */
async function steady(value: () => number): Promise<number> {
  let before = -1;
  while (value() !== before) {
    before = value();
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return before;
}

/** The promises of a channel, run against every transport. */
export function behavesLikeAChannel(name: string, far: FarSides): void {
  describe(`${name} behaves like a channel`, () => {
    it('brings back every byte, unchanged and in order', async () => {
      const { channel, reader } = await started(far);
      await using _ = channel;
      const all = Buffer.from(Array.from({ length: 200_000 }, (_unused, index) => (index * 7 + (index >> 8)) & 0xff));
      const writes: Promise<void>[] = [];
      for (let from = 0, step = 1; from < all.length; from += step, step = (step * 3) % 5_003) {
        writes.push(channel.write(all.subarray(from, from + step)));
      }
      expect((await reader.take(all.length)).equals(all)).toBe(true);
      await Promise.all(writes);
      await channel.write(new Uint8Array(0));
    });

    it('ends after the last byte, with the exit code', async () => {
      await using channel = await far.count(50_000, 7);
      const reader = new Reader(channel);
      expect((await reader.rest()).toString()).toBe(numbers(50_000));
      expect(await channel.ended).toEqual({ by: 'exit', code: 7 });
      expect(await channel.ended).toEqual({ by: 'exit', code: 7 });
    });

    it('has every byte available once it has ended, even for a reader who comes late', async () => {
      await using channel = await far.count(10_000, 0);
      expect(await channel.ended).toEqual({ by: 'exit', code: 0 });
      expect((await new Reader(channel).rest()).toString()).toBe(numbers(10_000));
    });

    it('hands every byte to a consumer, and nothing more while it asks to wait', async () => {
      await using channel = await far.count(20_000, 5);
      const parts: Buffer[] = [];
      let waiting = false;
      await channel.output.consume((chunk) => {
        expect(waiting).toBe(false);
        parts.push(Buffer.from(chunk));
        if (parts.length % 2 === 0) return undefined;
        waiting = true;
        return new Promise((resolve) =>
          setImmediate(() => {
            waiting = false;
            resolve();
          }),
        );
      });
      expect(Buffer.concat(parts).toString()).toBe(numbers(20_000));
      expect(await channel.ended).toEqual({ by: 'exit', code: 5 });
    });

    it('refuses input with terminal_exited after the end, and takes no harm from anything else', async () => {
      await using channel = await far.count(1, 0);
      await channel.ended;
      await expect(channel.write(Buffer.from('late'))).rejects.toMatchObject({ code: 'terminal_exited' });
      await channel.resize?.({ cols: 100, rows: 40 });
      await channel.kill?.('KILL');
      await channel.flush?.();
      expect(channel.process?.foreground()).toBeUndefined();
    });

    it('slows the writer when nobody reads, and loses nothing', async () => {
      const { channel, reader } = await started(far);
      await using _ = channel;
      const total = 8 * 1024 * 1024;
      const chunk = new Uint8Array(64 * 1024).fill(0x61);
      let accepted = 0;
      const writing = (async () => {
        while (accepted < total) {
          await channel.write(chunk);
          accepted += chunk.length;
        }
      })();
      expect(await steady(() => accepted)).toBeLessThan(total);
      expect((await reader.take(total)).length).toBe(total);
      await writing;
    });

    it('does not hold up the far side once its reader has left', async () => {
      const { channel, reader } = await started(far);
      await reader.leave();
      for (let part = 0; part < 32; part += 1) await channel.write(new Uint8Array(64 * 1024).fill(0x61));
      await channel[Symbol.asyncDispose]();
      expect(await channel.ended).toBeDefined();
    });

    it('is disposed of while nobody reads a flood', async () => {
      const channel = await far.count(1_000_000, 0);
      await channel[Symbol.asyncDispose]();
      expect(await channel.ended).toBeDefined();
    });

    it('is disposed of twice, and at the same time, without complaint', async () => {
      const { channel, reader } = await started(far);
      const pending = channel.write(new Uint8Array(4 * 1024 * 1024)).catch((error: unknown) => error);
      await Promise.all([channel[Symbol.asyncDispose](), channel[Symbol.asyncDispose]()]);
      await channel[Symbol.asyncDispose]();
      await reader.rest();
      await pending;
      const ended = await channel.ended;
      expect(ended).toEqual(await channel.ended);
      await expect(channel.write(Buffer.from('x'))).rejects.toMatchObject({ code: 'terminal_exited' });
    });

    it('tells a writer still waiting that the far side has ended', async () => {
      const { channel } = await started(far);
      const waiting = Array.from({ length: 64 }, () => channel.write(new Uint8Array(256 * 1024)));
      const [settled] = await Promise.all([Promise.allSettled(waiting), channel[Symbol.asyncDispose]()]);
      expect(settled.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'terminal_exited' } });
    });

    it('has one reader', async () => {
      await using channel = await far.count(1, 0);
      await new Reader(channel).rest();
      expect(() => channel.output[Symbol.asyncIterator]()).toThrow('one reader');
    });

    it.runIf('save' in far)(
      'may save its work when it is given time, and no longer than whoever has least of it',
      async () => {
        const open = async (seconds: number): Promise<Channel> => {
          const channel = await (far as Required<FarSides>).save(seconds);
          expect((await new Reader(channel).take(6)).toString()).toBe('ready\n');
          return channel;
        };
        const patient = await open(0.5);
        // Longer than this test may take: whoever has saved is not waited for any longer.
        await patient.endWithin?.(600_000);
        expect(await patient.ended).toEqual({ by: 'exit', code: 7 });
        const slow = await open(600);
        const ending = slow.endWithin?.(600_000);
        await slow[Symbol.asyncDispose]();
        await ending;
        expect(await slow.ended).toEqual({ by: 'signal', signal: 'KILL' });
      },
    );

    it('can be killed, where it can be killed at all', async () => {
      const { channel } = await started(far);
      await using _ = channel;
      if (channel.kill === undefined) return;
      await channel.kill('KILL');
      expect(await channel.ended).toEqual({ by: 'signal', signal: 'KILL' });
    });
  });
}
