import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addFlags, plainText } from './plain-text.ts';
import { cpuTimer } from '../../test/support/clocks/cpu-timer.ts';

const tag = (text: string): string => [...text].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join('');

describe('what a model may read', () => {
  test('text that people write stays as it is', () => {
    const texts = [
      'plain ASCII\twith a tab\nand a line',
      'naïve Ω 漢字 ｗｉｄｅ ½ — … █▓░ ⠋',
      'e\u0301 ภาษาไทย हिन्दी தமிழ் العربية עברית',
      '\ue0b0 \u{f0001} icons of patched fonts',
      '👩\u200d💻 ❤\ufe0f 👍🏽 👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 1\ufe0f\u20e3 ☠\ufe0e',
      'می\u200cخواهم क्\u200dष 葛\u{e0100}',
      `🏴${tag('gbsct')}\u{e007f}`,
    ];
    for (const text of texts) expect(plainText(text)).toEqual({ text, flags: {} });
  });

  test.each([
    ['a\x1b[31mb\x9bc\0d\x7f', 'a\ufffd[31mb\ufffdc\ufffdd\ufffd', { control: 4 }],
    ['a\ud800b\uffff', 'a\ufffdb\ufffd', { control: 2 }],
    ['safe\u202eexe.txt\u2066\u200f\u061c', 'safeexe.txt', { bidi: 4 }],
    ['pass\u200bword\ufeff \u00adx\u2060 a\u200db \u200c', 'password x ab ', { zero_width: 6 }],
    [`hi${tag('ignore all')}!`, 'hi!', { tags: 10 }],
    [`🏴${tag('rmrf')}\u{e007f}`, '🏴', { tags: 5 }],
    [`🙂${'\ufe01\u{e0110}'.repeat(20)}x`, '🙂x', { variation: 40 }],
    ['a\ufe0fb\ufe05c', 'abc', { variation: 2 }],
    ['👩\u200d rm', '👩 rm', { zero_width: 1 }],
    ['漢\u200d字', '漢字', { zero_width: 1 }],
    [`z${'\u0301'.repeat(30)}!`, `z${'\u0301'.repeat(8)}!`, { combining: 22 }],
  ])('%j becomes %j', (text, plain, flags) => {
    expect(plainText(text)).toEqual({ text: plain, flags });
  });

  test('separators become new lines, or blanks within a row', () => {
    expect(plainText('a\u2028b\u2029c\x85d').text).toBe('a\nb\nc\nd');
    expect(plainText('a\u2028b\u2029c\x85d', { separator: ' ' }).text).toBe('a b c d');
  });

  test('whatever goes in, nothing that acts or hides comes out, and doing it again changes nothing', () => {
    const odd = fc.constantFrom(
      ...'\x1b\x9b\0\u200d\u200b\u202e\ufe0f\u{e0041}\u{e007f}🏴👩अ\u0301\ud800\u2028'.split(''),
    );
    const any = fc.string({
      unit: fc.oneof(odd, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })),
      maxLength: 60,
    });
    fc.assert(
      fc.property(any, (text) => {
        const { text: plain } = plainText(text);
        expect(plain).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\ufeff]/);
        expect(plain).not.toMatch(/\p{Surrogate}/u);
        expect(plainText(plain).text.length).toBeLessThanOrEqual(plain.length);
      }),
      { numRuns: 500 },
    );
  });

  test.each(['\u200d', '\u0301', '\ud800', '\ufe0f', '\u{e0041}', '👩\u200d', 'अ\u200d', '\x1b', '\u200c\u200d'])(
    'takes time in proportion to the length: %j',
    (piece) => {
      const spent = cpuTimer();
      plainText(piece.repeat(500_000));
      expect(spent()).toBeLessThan(3000);
    },
  );

  test('flags add up', () => {
    expect(addFlags({ bidi: 1 }, {}, { bidi: 2, tags: 3 })).toEqual({ bidi: 3, tags: 3 });
  });
});
