import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BlockMark } from '../source.ts';
import { MarkedOutput } from './marked-output.ts';

const marks = '\x1b]133;A;fl=0123abcd\x07$ \x1b]133;B;fl=0123abcd\x1b\\ls\r\n\x1b]133;C;fl=0123abcd\x07a;fl=beef\r\n';

/** Gives the bytes in pieces cut at these places, each mark before the piece in which it stands. */
function played(text: string, cuts: readonly number[], told: readonly BlockMark[]): string {
  const output = new MarkedOutput(0);
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  const pieces: ReturnType<MarkedOutput['output']> = [];
  let from = 0;
  for (const to of [...places, text.length]) {
    for (const mark of told) if (mark.at > from && mark.at <= to) output.mark(mark);
    pieces.push(...output.output(Buffer.from(text.slice(from, to))));
    expect(output.writtenTo).toBeLessThanOrEqual(to);
    from = to;
  }
  pieces.push(...output.end());
  expect(output.writtenTo).toBe(text.length);
  return pieces.map((piece) => ('bytes' in piece ? piece.bytes.toString() : `<${piece.mark.kind}>`)).join('');
}

test('however output is cut, each mark stands at its place, and no part of a nonce is told (R-RPC-060)', () => {
  const told: BlockMark[] = [
    { kind: 'prompt', at: marks.indexOf('$') },
    { kind: 'input', at: marks.indexOf('ls') },
    { kind: 'output', at: marks.indexOf('a;fl'), command: 'ls' },
  ];
  const whole = played(marks, [], told);
  expect(whole).toBe(
    '\x1b]133;A;fl=00000000\x07<prompt>$ \x1b]133;B;fl=00000000\x1b\\<input>ls\r\n\x1b]133;C;fl=00000000\x07<output>a;fl=beef\r\n',
  );
  fc.assert(
    fc.property(fc.array(fc.nat({ max: marks.length }), { maxLength: 20 }), (cuts) => {
      expect(played(marks, cuts, told)).toBe(whole);
    }),
  );
});

test('a sequence that never ends is not held for ever', () => {
  const output = new MarkedOutput(0);
  const bytes = Buffer.from(`\x1b]133;A${'x'.repeat(20_000)}`);
  const pieces = [bytes.subarray(0, 5000), bytes.subarray(5000)].flatMap((piece) => output.output(piece));
  expect(pieces).toHaveLength(1);
  expect(output.writtenTo).toBe(bytes.length);
});
