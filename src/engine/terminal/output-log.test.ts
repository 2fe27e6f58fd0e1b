import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputLog } from './output-log.ts';

const upTo = (from: number, length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (from + i) % 251);

test('however output is appended, a reader gets every byte once or is told how many it missed', () => {
  const step = fc.oneof(
    fc.record({ append: fc.nat(90) }),
    fc.record({ shrink: fc.constant(true) }),
    fc.record({ read: fc.option(fc.nat(60), { nil: undefined }) }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 64 }), fc.nat(1000), fc.array(step), (capacity, start, steps) => {
      const log = new OutputLog({ capacity, start });
      let at = start;
      for (const s of steps) {
        if ('append' in s) {
          log.append(upTo(log.end, s.append));
          continue;
        }
        if ('shrink' in s) {
          log.shrink();
          expect(log.allocated).toBe(log.end - log.start);
          continue;
        }
        const asked = at;
        const got = log.read(asked, log.end, s.read);
        expect(got.from - asked).toBe(got.missed);
        expect(got.bytes).toEqual(upTo(got.from, got.bytes.length));
        if (s.read === undefined) expect(got.from + got.bytes.length).toBe(log.end);
        at = got.from + got.bytes.length;
      }
      expect(log.end - log.start).toBeLessThanOrEqual(capacity);
    }),
    { numRuns: 500 },
  );
});

test('it starts without memory and grows up to its capacity', () => {
  const log = new OutputLog({ capacity: 300_000 });
  expect(log.allocated).toBe(0);
  log.append(new Uint8Array(10));
  expect(log.allocated).toBe(16_384);
  log.append(new Uint8Array(40_000));
  expect(log.allocated).toBe(262_144);
  log.append(new Uint8Array(400_000));
  expect(log.allocated).toBe(300_000);
  expect([log.start, log.end]).toEqual([140_010, 440_010]);
});

test('views show the kept bytes in at most two pieces, without copying', () => {
  const log = new OutputLog({ capacity: 16 });
  log.append(upTo(0, 16));
  log.append(upTo(16, 5));
  const views = log.views(log.start);
  expect(views.map((v) => v.length)).toEqual([11, 5]);
  expect(Uint8Array.from(views.flatMap((v) => [...v]))).toEqual(upTo(5, 16));
  expect(views[0]?.buffer).toBe(views[1]?.buffer);
});

test('bytes are announced before they are dropped and after they are appended', () => {
  const log = new OutputLog({ capacity: 8 });
  const seen: string[] = [];
  using _drop = log.onDrop.on((offset) => seen.push(`drop ${offset} of ${log.start}`));
  using _append = log.onAppend.on((end) => seen.push(`end ${end}`));
  log.append(upTo(0, 6));
  log.append(upTo(6, 4));
  expect(seen).toEqual(['end 4', 'end 6', 'drop 2 of 0', 'end 10']);
});

test('an offset nobody has written yet reads as nothing', () => {
  const log = new OutputLog();
  log.append(upTo(0, 4));
  expect(log.read(99)).toEqual({ from: 4, bytes: new Uint8Array(), missed: 0 });
});
