import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/clocks/manual.ts';
import { Debouncer, type FlushCause } from './debouncer.ts';

interface Flush {
  readonly cause: FlushCause;
  readonly at: number;
}

const machine = (settings: Partial<ConstructorParameters<typeof Debouncer>[1]> = {}) => {
  const clock = new ManualClock();
  const flushes: Flush[] = [];
  const all = { debounceMs: 200, forceFlushMs: 1000, flushBytes: 1000, keepaliveMs: 30_000, ...settings };
  const debouncer = new Debouncer(clock, all, (cause) => flushes.push({ cause, at: clock.monotonic() }));
  return { clock, flushes, debouncer };
};

test('the first change opens a window, and changes within it do not prolong it (remote 3.4)', () => {
  const { clock, flushes, debouncer } = machine();
  debouncer.poke(1);
  for (let times = 0; times < 5; times += 1) {
    clock.advance(39);
    debouncer.poke(1);
  }
  expect(flushes).toEqual([]);
  clock.advance(5);
  expect(flushes).toEqual([{ cause: 'window', at: 200 }]);
});

test('many bytes are announced at once; 0 turns that off', () => {
  const { flushes, debouncer } = machine();
  debouncer.poke(999);
  expect(flushes).toEqual([]);
  debouncer.poke(1);
  expect(flushes).toEqual([{ cause: 'bytes', at: 0 }]);
  debouncer.poke(999);
  expect(flushes.length).toBe(1);
  const off = machine({ flushBytes: 0 });
  off.debouncer.poke(1e9);
  expect(off.flushes).toEqual([]);
});

test('a window longer than the forced flush is cut to it', () => {
  const { clock, flushes, debouncer } = machine({ debounceMs: 5000, forceFlushMs: 300 });
  debouncer.poke(1);
  clock.advance(300);
  expect(flushes).toEqual([{ cause: 'window', at: 300 }]);
});

test('after the last change nothing is announced, and no timer is left', () => {
  const { clock, flushes, debouncer } = machine();
  debouncer.poke(1);
  debouncer.finish();
  expect(flushes).toEqual([{ cause: 'final', at: 0 }]);
  debouncer.poke(5000);
  debouncer.flush();
  debouncer.finish();
  clock.advance(100_000);
  expect(flushes.length).toBe(1);
  expect(clock.timers).toBe(0);
});

test('disposed while dirty, it says nothing more', () => {
  const { clock, flushes, debouncer } = machine();
  debouncer.poke(1);
  debouncer[Symbol.dispose]();
  debouncer.flush();
  clock.advance(100_000);
  expect([flushes.length, clock.timers]).toEqual([0, 0]);
});

test('against a model: no change waits longer than its window, and a clean resource gives only signs of life', () => {
  const settings = fc.record({
    debounceMs: fc.constantFrom(5, 200, 5000),
    forceFlushMs: fc.constantFrom(100, 1000),
    flushBytes: fc.constantFrom(0, 1024, 2000),
    keepaliveMs: fc.constantFrom(5000, 30_000),
  });
  const step = fc.oneof(
    fc.record({ poke: fc.nat(900) }),
    fc.record({ wait: fc.constantFrom(1, 7, 99, 200, 1000, 6000, 40_000) }),
    fc.record({ flush: fc.constant(true) }),
  );
  fc.assert(
    fc.property(settings, fc.array(step, { maxLength: 60 }), fc.boolean(), (chosen, steps, ends) => {
      const { clock, flushes, debouncer } = machine(chosen);
      const windowMs = Math.min(chosen.debounceMs, chosen.forceFlushMs);
      const expected: Flush[] = [];
      let [dirtySince, bytes, cleanSince, now]: [number | undefined, number, number, number] = [undefined, 0, 0, 0];
      const flush = (cause: FlushCause, at: number): void => {
        expected.push({ cause, at });
        [dirtySince, bytes, cleanSince] = [undefined, 0, at];
      };
      for (const one of steps) {
        if ('poke' in one) {
          debouncer.poke(one.poke);
          bytes += one.poke;
          if (chosen.flushBytes > 0 && bytes >= chosen.flushBytes) flush('bytes', now);
          else dirtySince ??= now;
        } else if ('flush' in one) {
          debouncer.flush();
          if (dirtySince !== undefined) flush('window', now);
        } else {
          clock.advance(one.wait);
          for (;;) {
            const due: number = dirtySince === undefined ? cleanSince + chosen.keepaliveMs : dirtySince + windowMs;
            if (due > now + one.wait) break;
            flush(dirtySince === undefined ? 'keepalive' : 'window', due);
          }
          now += one.wait;
        }
        expect(debouncer.isDirty).toBe(dirtySince !== undefined);
      }
      if (ends) {
        debouncer.finish();
        flush('final', now);
        clock.advance(100_000);
      }
      expect(flushes).toEqual(expected);
      expect(clock.timers).toBe(ends ? 0 : 1);
    }),
    { numRuns: 1000 },
  );
});
