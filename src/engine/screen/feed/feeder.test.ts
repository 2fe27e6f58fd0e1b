import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ManualClock } from '../../../../test/support/clocks/manual.ts';
import { anyPiece, encode, everything, makeScreen, plainPiece } from '../../../../test/support/screen.ts';
import { OutputLog } from '../../terminal/output-log.ts';
import { systemClock } from '../../../system/clock.ts';
import { Feeder, type FeederOptions } from './feeder.ts';
import { PlainScan } from './plain-scan.ts';
import type { ScreenOptions } from '../screen.ts';

const loopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Each look at it costs a millisecond, as each slice that is parsed before it. */
class WorkClock extends ManualClock {
  spent = 0;

  override monotonic(): number {
    return this.spent++;
  }
}

function setUp(options: FeederOptions & { capacity?: number } & Partial<ScreenOptions> = {}) {
  const { capacity = 4 << 20, clock = new ManualClock(), ...rest } = options;
  const log = new OutputLog({ capacity });
  const { screen } = makeScreen({ clock, scrollback: 50, ...rest });
  const feeder = new Feeder(log, screen, rest);
  onTestFinished(() => feeder[Symbol.dispose]());
  return { log, screen, feeder, clock, text: () => screen.text({ scope: 'all', wrap: 'join' }) };
}

test('what stands before a cut is fed apart from what stands behind it, however far the log is', async () => {
  const answered: number[] = [];
  let cut = 0;
  const { log, feeder } = setUp({ cutAt: () => cut, reply: () => void answered.push(feeder.parsedTo) });
  log.append(encode('a\x1b[c\x1b]133;D\x07b\x1b[c'));
  cut = 'a\x1b[c\x1b]133;D\x07'.length;
  await loopTurn();
  expect(answered).toEqual([cut, log.end]);
});

describe('schedule', () => {
  test('what someone waits for is parsed in the call that brings it', () => {
    const { log, feeder, text } = setUp();
    using _watching = feeder.watch();
    log.append(encode('now'));
    expect(text()).toBe('now');
  });

  test('other output is parsed in the next turn of the loop, so that queries get answers', async () => {
    const { log, text } = setUp();
    log.append(encode('soon'));
    expect(text()).toBe('');
    await loopTurn();
    expect(text()).toBe('soon');
  });

  test('a terminal that keeps printing is parsed in batches', async () => {
    const clock = new ManualClock();
    const { log, feeder } = setUp({ clock });
    log.append(encode('a'));
    await loopTurn();
    log.append(encode('b'));
    await loopTurn();
    expect(feeder.parsedTo).toBe(1);
    clock.advance(16);
    await loopTurn();
    expect(feeder.parsedTo).toBe(2);
  });

  test('R-TERM-010: however many wait with one signal, it has one listener, and Node warns of no leak', async () => {
    const { log, feeder, text } = setUp();
    const { signal } = new AbortController();
    const barriers: unknown[] = [];
    for (let turn = 0; turn < 20; turn++) {
      log.append(encode(`${'x'.repeat(200_000)}\r\n`));
      barriers.push(feeder.sync(signal));
    }
    expect(barriers).not.toContain(undefined);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    log.append(encode('end'));
    await Promise.all([...barriers, feeder.sync(signal)]);
    expect(text()).toContain('end');
  });

  test('R-TERM-050: after the barrier the screen shows everything received before it', async () => {
    const { log, feeder, text } = setUp({ clock: systemClock });
    log.append(encode(`${'line\r\n'.repeat(200_000)}last`));
    const barrier = feeder.sync();
    expect(barrier).toBeInstanceOf(Promise);
    await barrier;
    expect(text().endsWith('last')).toBe(true);
    expect(feeder.sync()).toBeUndefined();
  });

  test('a small rest is parsed by the barrier itself', () => {
    const { log, feeder, text } = setUp();
    log.append(encode('little'));
    expect(feeder.sync()).toBeUndefined();
    expect(text()).toBe('little');
  });

  test('the barrier can be called off', async () => {
    const { log, feeder } = setUp();
    log.append(new Uint8Array(100_000).fill(0x61));
    const abort = new AbortController();
    const barrier = feeder.sync(abort.signal);
    abort.abort();
    await expect(barrier).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('disposing lets everybody go', async () => {
    const { log, feeder } = setUp({ capacity: 60_000 });
    log.append(new Uint8Array(60_000).fill(0x61));
    const [barrier, room] = [feeder.sync(), feeder.room()];
    feeder[Symbol.dispose]();
    await barrier;
    await room;
    log.append(encode('ignored'));
    expect(feeder.room()).toBeUndefined();
  });

  test('twenty floods leave the loop free', async () => {
    const clock = new WorkClock();
    const floods = Array.from({ length: 20 }, () => setUp({ clock }));
    for (const { log } of floods) log.append(new Uint8Array(200_000).fill(0x61));
    const parsed = Promise.all(floods.map(async ({ feeder }) => await feeder.sync()));
    let worst = 0;
    while (floods.some(({ log, feeder }) => feeder.parsedTo < log.end)) {
      const before = clock.spent;
      await loopTurn();
      worst = Math.max(worst, clock.spent - before);
    }
    await parsed;
    expect(clock.spent).toBeGreaterThan(250);
    expect(worst).toBeLessThan(20);
  });
});

describe('bounds', () => {
  test('whoever fills the log is told to wait, and when to go on', async () => {
    const { log, feeder } = setUp({ capacity: 64 << 10, clock: systemClock });
    expect(feeder.room()).toBeUndefined();
    log.append(new Uint8Array(50_000).fill(0x61));
    const room = feeder.room();
    expect(room).toBeInstanceOf(Promise);
    await room;
    expect(feeder.room()).toBeUndefined();
    expect(feeder.parsedTo).toBeGreaterThan(30_000);
  });

  test('bytes are never dropped unparsed, even when nobody waits', async () => {
    const { log, feeder, screen } = setUp({ capacity: 1000, fastForward: false });
    for (let i = 0; i < 300; i++) log.append(encode(`line ${i}\r\n`));
    await feeder.sync();
    expect(screen.viewportTop + screen.cursor.y).toBe(300);
    expect(log.start).toBeGreaterThan(1000);
  });

  test('an answer that brings new output is not parsed within parsing', async () => {
    const clock = new ManualClock();
    const log = new OutputLog();
    const { screen } = makeScreen({ clock, reply: (bytes) => log.append(encode(`<${bytes.length}>`)) });
    using feeder = new Feeder(log, screen);
    using _watching = feeder.watch();
    log.append(encode('a\x1b[6nb'));
    await feeder.sync();
    expect(screen.text({ scope: 'all', wrap: 'join' })).toBe('ab<6>');
  });
});

describe('output that is followed', () => {
  /** Long enough to be followed, short enough for its end to be missed by no ring. */
  const flood = (pieces: readonly string[]): string => {
    const text = `${pieces.join('')}\r\n`;
    return text.repeat(Math.ceil(70_000 / encode(text).length));
  };

  test('however it arrives, is dropped or asked for, the screen is what parsing everything makes it', async () => {
    const pieces = fc.array(fc.oneof({ weight: 30, arbitrary: plainPiece }, anyPiece), { minLength: 1, maxLength: 12 });
    const chunk = fc.record({ bytes: fc.integer({ min: 1, max: 30_000 }), then: fc.constantFrom('', 'turn', 'sync') });
    await fc.assert(
      fc.asyncProperty(
        fc.array(pieces, { minLength: 1, maxLength: 3 }),
        fc.array(chunk, { minLength: 1, maxLength: 12 }),
        fc.constantFrom(20_000, 100_000, 1 << 20),
        async (floods, chunks, capacity) => {
          const clock = new ManualClock();
          const log = new OutputLog({ capacity });
          const [followed, fed] = [makeScreen({ clock, scrollback: 20 }), makeScreen({ scrollback: 20 })];
          using feeder = new Feeder(log, followed.screen);
          const bytes = encode(floods.map(flood).join(''));
          fed.screen.feed(bytes);
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const { bytes: length, then } = chunks[i % chunks.length] ?? { bytes: 1000, then: '' };
            log.append(bytes.subarray(at, at + length));
            at += length;
            if (then !== '') clock.advance(16);
            if (then === 'turn') await loopTurn();
            else if (then === 'sync') await feeder.sync();
          }
          await feeder.sync();
          expect(everything(followed.screen)).toEqual(everything(fed.screen));
          expect(followed.replies.join('')).toBe(fed.replies.join(''));
        },
      ),
      { numRuns: 40 },
    );
  });

  test('a flood nobody looks at is shown now and then, and when it pauses', async () => {
    const { log, feeder, clock } = setUp();
    const manual = clock as ManualClock;
    const line = encode('a line of it\r\n'.repeat(2000));
    const step = async (bytes: Uint8Array): Promise<number> => {
      log.append(bytes);
      manual.advance(16);
      await loopTurn();
      return log.end - feeder.parsedTo;
    };
    expect(await step(line)).toBe(0);
    const behind: number[] = [];
    for (let i = 0; i < 80; i++) behind.push(await step(line));
    expect(behind.filter((bytes) => bytes === 0)).toHaveLength(1);
    for (let i = 0; i < 6; i++) expect(await step(new Uint8Array())).toBeGreaterThan(0);
    expect(await step(new Uint8Array())).toBe(0);
  });

  test('a flood far longer than the log is not held up, and its rows are counted', async () => {
    const { log, feeder, screen } = setUp({ capacity: 1 << 20 });
    const line = encode('a line of it\r\n'.repeat(1000));
    log.append(encode('\r'));
    await feeder.sync();
    for (let i = 0; i < 500; i++) {
      log.append(line);
      expect(feeder.room()).toBeUndefined();
    }
    await feeder.sync();
    expect(screen.viewportTop + screen.cursor.y).toBe(500_000);
    expect(screen.text({ scope: 'viewport', wrap: 'keep' })).toBe(`${'a line of it\n'.repeat(4)}`.trimEnd());
  });

  test('a question within it is answered when the program waits for the answer', async () => {
    const clock = new ManualClock();
    const log = new OutputLog();
    const { screen, replies } = makeScreen({ clock, scrollback: 50 });
    using _feeder = new Feeder(log, screen);
    log.append(encode(`${'a line of it\r\n'.repeat(5000)}\x1b[5n`));
    for (let i = 0; i < 2; i++) {
      clock.advance(16);
      await loopTurn();
    }
    expect(replies).toEqual(['\x1b[0n']);
  });

  test('what was printed before a resize is laid out at the old size', async () => {
    const { log, feeder, screen } = setUp();
    const text = 'x'.repeat(25);
    log.append(encode('\r'));
    await feeder.sync();
    log.append(encode(`${text}\r\n`.repeat(3000)));
    screen.resize({ cols: 40, rows: 5 });
    await feeder.sync();
    const fed = makeScreen({ scrollback: 50 });
    fed.screen.feed(encode(`${text}\r\n`.repeat(3000)));
    fed.screen.resize({ cols: 40, rows: 5 });
    expect(everything(screen)).toEqual(everything(fed.screen));
  });
});

describe('hibernation', () => {
  test('a screen nobody uses goes to sleep, and its timer with it', () => {
    const clock = new ManualClock();
    const { log, feeder, screen } = setUp({ clock, idleMs: 1000 });
    log.append(encode('hello'));
    expect(feeder.sync()).toBeUndefined();
    expect(screen.state).toBe('live');
    clock.advance(900);
    screen.grid();
    clock.advance(900);
    expect(screen.state).toBe('live');
    clock.advance(1000);
    expect(screen.state).toBe('asleep');
    expect(clock.timers).toBe(0);
  });

  test('reading wakes it up, and it goes to sleep again', () => {
    const clock = new ManualClock();
    const { log, feeder, screen, text } = setUp({ clock, idleMs: 1000 });
    log.append(encode('hello'));
    expect(feeder.sync()).toBeUndefined();
    clock.advance(3000);
    expect(screen.state).toBe('asleep');
    expect(text()).toBe('hello');
    expect(screen.state).toBe('live');
    clock.advance(3000);
    expect(screen.state).toBe('asleep');
  });

  test('a watched screen stays awake', () => {
    const clock = new ManualClock();
    const { log, feeder, screen } = setUp({ clock, idleMs: 1000 });
    const watching = feeder.watch();
    log.append(encode('hello'));
    clock.advance(10_000);
    expect(screen.state).toBe('live');
    watching[Symbol.dispose]();
    clock.advance(3000);
    expect(screen.state).toBe('asleep');
  });

  test('a terminal that has printed nothing has neither emulator nor timer', () => {
    const clock = new ManualClock();
    const { screen } = setUp({ clock });
    expect([screen.state, clock.timers]).toEqual(['blank', 0]);
  });
});

describe('a mistake in looking ahead', () => {
  const lines = encode(Array.from({ length: 20_000 }, (_, at) => `line ${at}\r\n`).join(''));
  const plainly = async (): Promise<string> => {
    const { log, feeder, screen } = setUp({ fastForward: false, clock: systemClock });
    log.append(lines);
    await feeder.sync();
    return screen.text({ scope: 'viewport', wrap: 'join' });
  };

  test.each(['follow', 'skip'] as const)('in %s: everything still there is parsed instead', async (method) => {
    const mistakes: unknown[] = [];
    const spy = vi.spyOn(PlainScan.prototype, method).mockImplementationOnce(() => {
      throw new Error('ours');
    });
    onTestFinished(() => spy.mockRestore());
    const { log, feeder, screen } = setUp({
      capacity: 64 << 10,
      clock: systemClock,
      onFault: (thrown) => mistakes.push(thrown),
    });
    for (let at = 0; at < lines.length; at += 10_000) {
      log.append(lines.subarray(at, at + 10_000));
      await feeder.room();
    }
    await feeder.sync();
    expect(feeder.parsedTo).toBe(lines.length);
    expect(mistakes).toEqual([new Error('ours')]);
    expect(screen.text({ scope: 'viewport', wrap: 'join' })).toContain('line 19999');
    expect(screen.text({ scope: 'viewport', wrap: 'join' })).toBe(await plainly());
  });
});
