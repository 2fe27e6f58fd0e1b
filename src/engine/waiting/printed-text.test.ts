import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PrintedText } from './printed-text.ts';

function read(...chunks: string[]): string {
  const printed = new PrintedText();
  for (const chunk of chunks) printed.feed(Buffer.from(chunk));
  return printed.text;
}

test('colours, titles and modes are no text; movements keep words apart', () => {
  expect(read('\x1b[1;31mred\x1b[0m \x1b]0;title\x07ok\r\n')).toBe('red ok\n');
  expect(read('Press\x1b[CEnter\x1b[5;3Hnow\x1b(B\x1b=')).toBe('Press Enter\nnow');
  expect(read('10%\r20%\r\nab\b\bcd')).toBe('10%\n20%\ncd');
});

test('however output is cut, the text is the same', () => {
  const piece = fc.constantFrom(
    'a',
    'é',
    '🙂',
    '\r\n',
    '\x1b[31m',
    '\x1b[2C',
    '\x1b]2;t\x07',
    '\x1bP1\x1b\\',
    '\x1b[H',
    ' word',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(200), { maxLength: 8 }), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(''));
      const printed = new PrintedText();
      let at = 0;
      for (const cut of [...cuts, bytes.length].map((place) => Math.min(place, bytes.length)).sort((a, b) => a - b)) {
        printed.feed(bytes.subarray(at, cut));
        at = cut;
      }
      expect(printed.text).toBe(read(pieces.join('')));
    }),
  );
});

test('of text that was looked at only the last lines are kept', () => {
  const printed = new PrintedText();
  for (let at = 0; at < 100; at++) printed.feed(Buffer.from(`${'x'.repeat(200)} ${at}\r\n`));
  expect(printed.text.length).toBeLessThan(5000);
  expect(printed.text).toContain(' 99\n');
  expect(printed.text.startsWith('xxx')).toBe(true);
});

test('an escape sequence that never ends holds back no more than its limit', () => {
  const printed = new PrintedText();
  printed.feed(Buffer.from(`\x1b]0;${'y'.repeat(9000)}`));
  printed.feed(Buffer.from('\x07done'));
  expect(printed.text).toContain('done');
});
