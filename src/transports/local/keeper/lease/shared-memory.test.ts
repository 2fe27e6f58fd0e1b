import { closeSync, fstatSync, openSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadSharedCalls, type SharedCalls } from './shared-calls.ts';
import { SharedLog } from './terminal-log.ts';
import { SharedMemory } from './shared-memory.ts';

const calls = await loadSharedCalls();

/** What two processes see, in one. */
function pair(capacity = 1000, start = 0) {
  const keeper = SharedMemory.create(calls as SharedCalls, capacity, start);
  if (!keeper) throw new Error('There is no memory to share.');
  const mapping = (calls as SharedCalls).map(keeper.fd, 4096 + 16_384);
  if (!mapping) throw new Error('There is no more memory.');
  const numbers = new Float64Array(mapping.bytes, 0, 8);
  return {
    keeper,
    /** As the process that was killed left them. */
    staging: new Uint8Array(mapping.bytes, 4096, 16_384),
    set: (field: 'head' | 'stagedAt', value: number): void => {
      numbers[field === 'head' ? 3 : 4] = value;
    },
    [Symbol.dispose]: (): void => {
      mapping.release();
      keeper[Symbol.dispose]();
    },
  };
}

const text = (memory: SharedMemory): string =>
  Buffer.from(new SharedLog(memory).read(memory.start).bytes).toString('latin1');

describe.runIf(calls !== undefined)('memory that outlives its reader', () => {
  test('killed when bytes were read and not yet logged: they are logged', () => {
    using one = pair();
    one.keeper.append(Buffer.from('before '));
    one.keeper.ready(0);
    one.staging.set(Buffer.from('read'));
    one.keeper.recover();
    expect(text(one.keeper)).toBe('before read');
    expect(one.staging.every((byte, at) => at >= 4096 || byte === 0xff)).toBe(true);
  });

  test('killed while they were copied into the ring: only what was staged counts', () => {
    using one = pair();
    one.keeper.append(Buffer.from('before '));
    one.keeper.ready(0);
    one.keeper.append(Buffer.from('half'));
    one.set('head', 7);
    one.staging.set(Buffer.from('half of it'));
    one.keeper.recover();
    expect(text(one.keeper)).toBe('before half of it');
  });

  test('killed when they were logged and the staging area was not cleared, or half: nothing is logged twice', () => {
    for (const cleared of [0, 2, 4]) {
      using one = pair();
      one.keeper.append(Buffer.from('before '));
      one.keeper.ready(0);
      one.staging.set(Buffer.from('read'));
      one.keeper.append(Buffer.from('read'));
      one.staging.fill(0xff, 0, cleared);
      one.keeper.recover();
      expect(text(one.keeper)).toBe('before read');
      expect(one.staging.subarray(0, 4096).every((byte) => byte === 0xff)).toBe(true);
      // And the next reader begins where this one was.
      one.staging.set(Buffer.from(' on'));
      one.keeper.recover();
      expect(text(one.keeper)).toBe('before read on');
    }
  });

  test('killed with nothing read: nothing is added, and whoever still reads sees that it is not his turn', () => {
    using one = pair();
    const { epoch } = one.keeper;
    one.keeper.recover();
    expect([one.keeper.head, one.keeper.epoch]).toEqual([0, epoch + 1]);
  });

  test('zeros and bytes that are no text count; only the mark of the unread at the very end cannot be told from it', () => {
    using one = pair();
    one.staging.set(Buffer.from([0xff, 0, 0x80, 0xff, 0, 0xff]));
    one.keeper.recover();
    expect(Buffer.from(new SharedLog(one.keeper).read(0).bytes)).toEqual(Buffer.from([0xff, 0, 0x80, 0xff, 0]));
  });

  test('what was read into more than the first page is found, too', () => {
    using one = pair(100_000);
    const long = Buffer.alloc(10_000, 'x');
    one.keeper.staging.set(long);
    one.keeper.recover();
    expect(one.keeper.head).toBe(10_000);
    one.keeper.staging.set(long);
    one.keeper.commit(10_000);
    one.keeper.recover();
    expect(one.keeper.head).toBe(20_000);
  });

  test('the ring drops the oldest; offsets go on from where another log was', () => {
    using one = pair(10, 95);
    const log = new SharedLog(one.keeper);
    log.append(Buffer.from('0123456789abcdefghijklmno'));
    expect([log.start, log.end]).toEqual([110, 120]);
    expect(text(one.keeper)).toBe('fghijklmno');
    expect(Buffer.concat(log.views(113, 117)).toString()).toBe('ijkl');
    expect(log.read(100, 113)).toEqual({ from: 110, bytes: new Uint8Array(Buffer.from('fgh')), missed: 10 });
    expect(log.views(120)).toEqual([]);
  });

  test('an empty one takes two pages, however large it may become', () => {
    using one = pair(4 << 20);
    expect(fstatSync(one.keeper.fd).blocks * 512).toBe(8192);
  });

  test('where it cannot be had there is none, and nothing is left open', () => {
    // A file that cannot be made larger, as where files have a limit.
    const file = openSync('/dev/null', 'r');
    expect(SharedMemory.create({ ...(calls as SharedCalls), memoryFile: () => file }, 1000, 0)).toBeUndefined();
    expect(() => closeSync(file)).toThrow('EBADF');
  });
});
