import { describe, expect, test } from 'vitest';
import { arrived, MemoryFarSide } from '../../../test/support/resumable/memory-far-side.ts';
import { windowBytes } from './messages.ts';
import type { ResumableChannel } from './resumable-channel.ts';

function listen({ output }: ResumableChannel): { text: string } {
  const heard = { text: '' };
  output.consume((chunk) => void (heard.text += Buffer.from(chunk).toString('latin1'))).catch(() => {});
  return heard;
}

const type = (far: MemoryFarSide, text: string): Promise<void> => far.channel.write(Buffer.from(text));

describe('output', () => {
  test('what was lost with a connection is asked for again from its offset', async () => {
    const far = new MemoryFarSide();
    const heard = listen(far.channel);
    far.print('one ');
    await arrived();
    far.print('two ');
    far.cut();
    far.print('three ');
    await arrived();
    expect([heard.text, far.channel.received]).toEqual(['one ', 4]);
    far.reconnect();
    await arrived();
    expect(heard.text).toBe('one two three ');
  });

  test('a far side that sends too much again is not heard twice', async () => {
    const far = new MemoryFarSide();
    const heard = listen(far.channel);
    far.print('one two ');
    await arrived();
    far.cut();
    far.print('three');
    far.reconnect(6);
    await arrived();
    expect(heard.text).toBe('one two three');
  });

  test('what the far side has dropped is named, and the offsets stay right', async () => {
    const far = new MemoryFarSide({}, 100);
    const heard = listen(far.channel);
    far.print('first');
    await arrived();
    far.cut();
    far.print('x'.repeat(1000));
    far.reconnect();
    await arrived();
    expect(heard.text).toMatch(/^first\r\n\[fairlead: 900 bytes of output are missing here\]\r\n\0+x{100}$/);
    expect([heard.text.length, far.channel.received]).toEqual([1005, 1005]);
  });

  test('a reader that does not read stops the far side within the window, and loses nothing', async () => {
    const far = new MemoryFarSide();
    const total = windowBytes * 3;
    far.print('y'.repeat(total));
    await arrived(100);
    expect(far.sentTo).toBe(windowBytes);
    far.cut();
    far.reconnect();
    await arrived(100);
    expect(far.channel.output.size).toBeLessThanOrEqual(windowBytes * 2);
    const heard = listen(far.channel);
    await expect.poll(() => heard.text.length).toBe(total);
  });

  test('past output can be had apart from what comes, also over two connections', async () => {
    const far = new MemoryFarSide({ replay: { to: 12, capacity: 100 } });
    const heard = listen(far.channel);
    far.print('past and ');
    await arrived();
    far.cut();
    far.reconnect(3);
    far.print('presently now');
    await arrived();
    const log = await far.channel.replayed;
    expect([Buffer.from(log.read(0).bytes).toString(), heard.text]).toEqual(['past and pre', 'sently now']);
  });

  test('a flush settles with its answer, and when the connection is a new one', async () => {
    const far = new MemoryFarSide();
    await far.channel.flush();
    const lost = far.channel.flush();
    far.cut();
    far.reconnect();
    await lost;
  });
});

describe('input', () => {
  test('what did not arrive is sent again, and what did is typed once', async () => {
    const far = new MemoryFarSide();
    const lost = type(far, 'lost ');
    far.cut();
    far.reconnect();
    await lost;
    // It arrives, and the answer to it is lost.
    const arrives = type(far, 'answered ');
    await arrived(1);
    far.cut();
    expect(far.typed).toBe('lost answered ');
    const waits = type(far, 'meanwhile');
    far.reconnect();
    await Promise.all([arrives, waits]);
    expect(far.typed).toBe('lost answered meanwhile');
  });

  test('what waits at the far side is not sent again', async () => {
    const far = new MemoryFarSide();
    far.accepts = false;
    const writing = type(far, 'abc');
    await arrived();
    far.cut();
    far.reconnect();
    await arrived();
    far.accept();
    await writing;
    expect(far.typed).toBe('abc');
  });

  test('at most 128 KiB are on their way, and 16 MiB are queued', async () => {
    const far = new MemoryFarSide();
    far.accepts = false;
    const writing = far.channel.write(Buffer.alloc(16 << 20, 'z'));
    await arrived();
    expect(far.mostPending).toBe(128 << 10);
    await expect(type(far, 'more')).rejects.toMatchObject({ code: 'limit_reached' });
    far.accepts = true;
    far.accept();
    await writing;
    expect([far.typed.length, far.mostPending]).toEqual([16 << 20, 128 << 10]);
  });
});

test('however often the connection is cut, each byte of output and input arrives once', async () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 0x7fff_ffff) % below;
  const far = new MemoryFarSide();
  const heard = listen(far.channel);
  const writes: Promise<void>[] = [];
  let [printed, written, cuts] = ['', '', 0];
  for (let step = 0; step < 600; step += 1) {
    const text = `${step}:${'#'.repeat(random(300))};`;
    if (random(2) === 0) {
      printed += text;
      far.print(text);
    } else {
      written += text;
      writes.push(type(far, text));
    }
    if (random(4) === 0) {
      cuts += 1;
      far.cut();
      await arrived(random(3));
      far.reconnect(random(50));
    } else await arrived(random(3));
  }
  await Promise.all(writes);
  await expect.poll(() => heard.text.length).toBe(printed.length);
  expect([heard.text === printed, far.typed === written, cuts > 100]).toEqual([true, true, true]);
});

describe('requests while there is no connection', () => {
  test('signals wait once each, in the order of their newest', async () => {
    const far = new MemoryFarSide();
    far.cut();
    for (let times = 0; times < 1000; times += 1) {
      for (const signal of ['STOP', 'INT', 'CONT'] as const) await far.channel.kill(signal);
    }
    await far.channel.kill('STOP');
    far.reconnect();
    await arrived();
    const signals = ['INT', 'CONT', 'STOP'].map((signal) => `kill {"signal":"${signal}"}`);
    expect(far.heard).toEqual(signals);
    far.cut();
    far.reconnect();
    await arrived();
    expect(far.heard).toEqual(signals);
  });

  test('secrets come first, and again until input after them was accepted', async () => {
    const far = new MemoryFarSide();
    far.cut();
    await far.channel.resize({ cols: 100, rows: 30 });
    far.channel.durable.note(Buffer.from('old'));
    far.channel.durable.note(Buffer.from('facts'));
    far.channel.conceal('swordfish');
    const writing = type(far, 'swordfish');
    const told = ['conceal swordfish', 'meta facts', 'resize {"cols":100,"rows":30}'];
    far.reconnect();
    await arrived(1);
    expect(far.heard).toEqual(told);
    // The answer to the input is lost.
    far.cut();
    far.reconnect();
    await writing;
    await arrived();
    expect(far.heard.slice(3)).toEqual([told[0], told[2]]);
    await type(far, 'after it');
    far.cut();
    far.reconnect();
    await arrived();
    expect(far.heard.slice(5)).toEqual([told[2]]);
  });

  test('a channel that was disposed meanwhile is ended over the next connection', async () => {
    const far = new MemoryFarSide();
    far.cut();
    const disposing = far.channel[Symbol.asyncDispose]();
    far.reconnect();
    await arrived();
    expect(far.heard).toEqual(['terminate {"graceMs":10}']);
    far.channel.exit({ by: 'signal', signal: 'TERM' });
    far.channel.terminated();
    await disposing;
    expect([await far.channel.ended, far.known]).toEqual([{ by: 'signal', signal: 'TERM' }, [true]]);
  });
});

describe('the end', () => {
  test('a far side that is gone for good ends the channel as lost, after its last output', async () => {
    const far = new MemoryFarSide();
    far.print('last words');
    await arrived();
    const writing = type(far, 'x');
    far.cut();
    far.channel.lost('the machine burned down');
    await expect(writing).rejects.toMatchObject({ code: 'terminal_exited' });
    expect(await far.channel.ended).toEqual({ by: 'lost', reason: 'the machine burned down' });
    const heard = listen(far.channel);
    expect([heard.text, far.isFinished]).toEqual(['last words', true]);
    await far.channel[Symbol.asyncDispose]();
    // The far side does not know: the owner of the link tells it if it comes back.
    expect(far.known).toEqual([false]);
  });

  test('leaving ends nothing at the far side', async () => {
    const far = new MemoryFarSide();
    await far.channel.durable.leave();
    await arrived();
    expect(await far.channel.ended).toMatchObject({ by: 'lost' });
    expect([far.heard, far.known]).toEqual([[], [true]]);
  });
});
