import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Mark, MarkScanner } from './marks.ts';

const scan = (text: string | Uint8Array, nonce?: string): Mark[] => {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return [...new MarkScanner({ nonce }).scan(bytes, 1000)];
};
const brief = (marks: readonly Mark[]): string[] =>
  marks.map(({ kind, value }) => (value === '' ? kind : `${kind}:${value}`));

describe('MarkScanner', () => {
  it('finds prompt, command, output and end, in both dialects and with either terminator', () => {
    expect(brief(scan('\x1b]133;A\x07$ \x1b]133;B\x1b\\ls\r\n\x1b]133;C\x07a\r\n\x1b]133;D;2\x07'))).toEqual([
      'A',
      'B',
      'C',
      'D:2',
    ]);
    expect(brief(scan('\x1b]633;A\x07$ \x1b]633;B\x07\x1b]633;E;ls\x07\x1b]633;C\x07\x1b]633;D\x07'))).toEqual([
      'A',
      'B',
      'E:ls',
      'C',
      'D',
    ]);
  });

  it('says where each sequence stands', () => {
    const [a, b] = scan('xy\x1b]133;A\x07$ \x1b]133;B\x1b\\');
    expect([a?.from, a?.to, b?.from, b?.to]).toEqual([1002, 1010, 1012, 1021]);
  });

  it('trusts only marks with the nonce, and does not hand it on', () => {
    const [forged, wrong, ours] = scan('\x1b]133;D;0\x07\x1b]133;D;0;fl=abd\x07\x1b]133;D;0;fl=abc;n=3\x07', 'abc');
    expect([forged?.trusted, wrong?.trusted, ours?.trusted]).toEqual([false, false, true]);
    expect({ ...ours?.params }).toEqual({ n: '3' });
    expect(scan('\x1b]133;A;fl=\x07', '')[0]?.trusted).toBe(false);
    expect(scan('\x1b]133;A;fl=undefined\x07')[0]?.trusted).toBe(false);
  });

  it('reads parameters and tolerates what it does not know', () => {
    expect({ ...scan('\x1b]133;A;aid=7;cl=m;k=i\x07')[0]?.params }).toEqual({ aid: '7', cl: 'm', k: 'i' });
    expect(scan('\x1b]133;D;aid=7\x07')[0]).toMatchObject({ kind: 'D', value: '', params: { aid: '7' } });
    expect(
      brief(scan('\x1b]133;L\x07\x1b]133;N\x07\x1b]133;P;k=s\x07\x1b]133;Z\x07\x1b]133\x07\x1b]8;;http://x\x07')),
    ).toEqual(['L', 'N', 'P']);
  });

  it('unescapes the command text', () => {
    expect(brief(scan('\x1b]633;E;echo a\\x3b echo \\\\x3b\\x0ab;fl=1\x07'))).toEqual(['E:echo a; echo \\x3b\nb']);
    expect(brief(scan('\x1b]133;C;cmdline_url=echo%20%C3%A9\x07'))).toEqual(['C:echo é']);
  });

  it('reads directories', () => {
    expect(scan('\x1b]7;file://host/a%20b/%C3%A9\x07')[0]).toMatchObject({
      kind: 'cwd',
      value: '/a b/é',
      params: { host: 'host' },
    });
    expect(brief(scan('\x1b]1337;CurrentDir=/x%20y\x07\x1b]9;9;"C:\\x"\x07\x1b]7;file:///p%zz\x07'))).toEqual([
      'cwd:/x%20y',
      'cwd:C:\\x',
      'cwd:/p%zz',
    ]);
  });

  it('ignores control characters inside, ends at any ESC, drops on CAN', () => {
    expect(brief(scan('\x1b]13\n3;\rA\x07'))).toEqual(['A']);
    expect(brief(scan('\x1b]133;A\x1b[31m\x1b]133;B\x1b]133;C\x07'))).toEqual(['A', 'B', 'C']);
    expect(brief(scan('\x1b]133;A\x18\x1b]133;B\x07'))).toEqual(['B']);
  });

  it('gives up on an OSC that does not end, and hears the next one', () => {
    const scanner = new MarkScanner();
    expect(scanner.scan(Buffer.from(`\x1b]133;A;${'x'.repeat(5000)}`), 0)).toEqual([]);
    expect(scanner.scan(Buffer.from('x'.repeat(5000)), 5010)).toEqual([]);
    expect(brief(scanner.scan(Buffer.from('\x07\x1b]133;B\x07'), 10010))).toEqual(['B']);
  });

  it('reports the end of the line after an I mark, with what was echoed', () => {
    const marks = scan('\x1b]133;I;fl=n\x07ls -l\r\nout\r\n', 'n');
    expect(marks.map(({ kind, value, from, to, trusted }) => ({ kind, value, from, to, trusted }))).toEqual([
      { kind: 'I', value: '', from: 1000, to: 1013, trusted: true },
      { kind: 'eol', value: 'ls -l\r', from: 1019, to: 1020, trusted: true },
    ]);
  });

  it('finds the same marks however the bytes are cut', () => {
    const piece = fc.constantFrom(
      '\x1b]133;A;fl=n;n=1\x07',
      '\x1b]133;B\x1b\\',
      '\x1b]133;I\x07',
      '\x1b]633;E;a\\x3bb\x07',
      '\x1b]7;file:///a%20b\x07',
      '\x1b]2;été\x07',
      '\x1b[?1049h',
      '\x1b[?1;47l',
      '\x1b[31mred\x1b[0m',
      'plain é\r\n',
      '\x1b',
      '\x1b]',
      '\x1b[',
      '\x1b[?',
      '\x07',
      '\\',
      '\x18',
      ']133;D\x07',
    );
    const cuts = fc.array(fc.nat(12), { maxLength: 60 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), cuts, (pieces, sizes) => {
        const bytes = Buffer.from(`${pieces.join('')}\x1b]133;N\x07`);
        const whole = new MarkScanner({ nonce: 'n' }).scan(bytes, 0);
        const scanner = new MarkScanner({ nonce: 'n' });
        const found: Mark[] = [];
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          // The memory of a chunk is reused once it was handed over.
          const chunk = Buffer.from(bytes.subarray(at, at + size));
          found.push(...scanner.scan(chunk, at));
          at += chunk.length;
          chunk.fill(0x1b);
        }
        expect(found).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  it('never throws and never reports a place outside its input, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        for (const mark of scan(bytes, 'n')) {
          expect(mark.from).toBeGreaterThanOrEqual(1000);
          expect(mark.to).toBeLessThanOrEqual(1000 + bytes.length);
          expect(mark.to).toBeGreaterThan(mark.from);
        }
      }),
    );
  });
});
