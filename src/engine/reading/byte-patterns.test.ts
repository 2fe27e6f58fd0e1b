import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputLog } from '../terminal/output-log.ts';
import { PatternScan } from './byte-patterns.ts';

const few = fc.stringMatching(/^[ab]{1,4}$/);

test('however the output is cut, a pattern that is there is found, with the end of its first occurrence', () => {
  fc.assert(
    fc.property(fc.array(few, { maxLength: 12 }), few, (chunks, pattern) => {
      const log = new OutputLog({});
      const scan = new PatternScan([Buffer.from(pattern)], log, 0);
      for (const chunk of chunks) {
        log.append(Buffer.from(chunk));
        scan.look();
      }
      const at = chunks.join('').indexOf(pattern);
      expect(scan.found).toEqual(at === -1 ? undefined : { pattern: 0, to: at + pattern.length });
    }),
  );
});

test('in what is there at once the earliest position wins, then the earlier pattern', () => {
  fc.assert(
    fc.property(few, few, fc.array(few, { minLength: 1, maxLength: 16 }), (before, after, patterns) => {
      const text = `${before}x${after}`;
      const log = new OutputLog({});
      log.append(Buffer.from(text));
      const positions = patterns.map((pattern) => text.indexOf(pattern));
      const first = Math.min(...positions.filter((at) => at !== -1));
      const winner = positions.indexOf(first);
      const scan = new PatternScan(
        patterns.map((pattern) => Buffer.from(pattern)),
        log,
        0,
      );
      expect(scan.look()).toEqual(
        winner === -1 ? undefined : { pattern: winner, to: first + (patterns[winner]?.length ?? 0) },
      );
    }),
  );
});

test('what was dropped before anybody looked is not there', () => {
  const log = new OutputLog({ capacity: 8 });
  log.append(Buffer.from('needle, and then more than fits'));
  expect(new PatternScan([Buffer.from('needle')], log, 0).look()).toBeUndefined();
});
