import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CommandOutput } from './command-output.ts';
import type { StreamName } from '../link/link.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const bytes = (words: string): Uint8Array => Buffer.from(words);

function shown(output: CommandOutput, from = 0, max?: number) {
  const { parts, ...facts } = output.read(from, max);
  return { ...facts, parts: parts.map((part) => `${part.stream}: ${text(part.bytes)}`) };
}

test('both streams are kept in the order in which their bytes came', () => {
  const output = new CommandOutput(100);
  output.append('stdout', bytes('one '));
  output.append('stdout', bytes('two '));
  output.append('stderr', bytes('oops '));
  output.append('stdout', bytes('three'));
  expect(shown(output)).toEqual({
    from: 0,
    to: 18,
    missed: 0,
    parts: ['stdout: one two ', 'stderr: oops ', 'stdout: three'],
  });
  expect(text(output.stdout.read(0).bytes)).toBe('one two three');
  expect(shown(output, 6, 9)).toEqual({
    from: 6,
    to: 15,
    missed: 0,
    parts: ['stdout: o ', 'stderr: oops ', 'stdout: th'],
  });
  expect(shown(output, 18)).toEqual({ from: 18, to: 18, missed: 0, parts: [] });
  expect(shown(output, 99)).toEqual({ from: 18, to: 18, missed: 0, parts: [] });
});

test('a flood on one stream moves the start past what the other said before it', () => {
  const output = new CommandOutput(8);
  output.append('stderr', bytes('warn'));
  output.append('stdout', bytes('0123456789'));
  output.append('stderr', bytes('end'));
  expect([output.start, output.end]).toEqual([6, 17]);
  expect(shown(output)).toEqual({ from: 6, to: 17, missed: 6, parts: ['stdout: 23456789', 'stderr: end'] });
  expect(text(output.stderr.read(0).bytes)).toBe('warnend');
});

test('streams that take turns for ever cost a bounded list', () => {
  const output = new CommandOutput(1 << 20);
  for (let turn = 0; turn < 100_000; turn++) output.append(turn % 2 === 0 ? 'stdout' : 'stderr', bytes('x'));
  expect(output.end - output.start).toBe(65_536);
  const { parts } = output.read(0);
  expect(parts).toHaveLength(65_536);
  expect(parts.slice(0, 2).map(({ stream }) => stream)).toEqual(['stdout', 'stderr']);
});

test('however bytes come and are dropped, a reader gets each of the kept ones once, in order, from its stream', () => {
  const chunk = fc.record({
    stream: fc.constantFrom<StreamName>('stdout', 'stderr'),
    length: fc.nat(30),
    shrink: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(chunk), fc.nat(20), (capacity, chunks, max) => {
      const output = new CommandOutput(capacity);
      const all: { stream: StreamName; byte: number }[] = [];
      for (const { stream, length, shrink } of chunks) {
        const data = Uint8Array.from({ length }, (_, index) => (all.length + index) % 251);
        for (const byte of data) all.push({ stream, byte });
        output.append(stream, data);
        if (shrink) output.shrink();
      }
      expect(output.end).toBe(all.length);
      const seen: { stream: StreamName; byte: number }[] = [];
      let at = 0;
      while (at < output.end) {
        const { parts, to } = output.read(at, max + 1);
        for (const { stream, bytes: part } of parts) for (const byte of part) seen.push({ stream, byte });
        at = to;
      }
      expect(seen).toEqual(all.slice(output.start));
      expect(output.end - output.start).toBeGreaterThanOrEqual(Math.min(all.length, capacity));
    }),
    { numRuns: 500 },
  );
});
