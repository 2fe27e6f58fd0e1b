import { expect, test } from 'vitest';
import { cutSequence, plainOutput } from './plain-output.ts';

test.each([
  ['colours', '\x1b[01;34msrc\x1b[0m\r\n\x1b[31;1mred\x1b[m\n', 'src\nred\n', {}],
  ['a title, a link, a charset', '\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\\x1b(B', 'ab', {}],
  ['a prompt as bash prints it', '\x1b[?2004h$ ls\r\n\x1b[?2004l\rout\r\n', '$ ls\nout\n', {}],
  ['a progress line', '10%\r20%\r100%\r\n', '10%\n20%\n100%\n', {}],
  ['a sequence that is cut', 'text\x1b[38;5;', 'text', {}],
  ['bidi, zero width, tags', 'a\u202eb\u200bc\u{e0041}d', 'abcd', { bidi: 1, zero_width: 1, tags: 1 }],
  ['controls that are no sequences', 'a\x07b\x9bc', 'a\ufffdb\ufffdc', { control: 2 }],
  ['a sequence inside another', '\x1b[3\x1b[31mx\x1b\x1b', 'x', {}],
])('%s', (_, printed, text, flags) => {
  expect(plainOutput(printed)).toEqual({ text, flags });
});

test('text behind a string that never ends is shown, and takes no more time than it is long', () => {
  const printed = `\x1b]0;${'x'.repeat(100_000)}`;
  expect(plainOutput(printed)).toEqual({ text: `\ufffd]0;${'x'.repeat(100_000)}`, flags: { control: 1 } });
  const began = performance.now();
  plainOutput('\x1b]0;'.repeat(500_000));
  plainOutput('\x1b['.repeat(500_000));
  plainOutput('\x1b'.repeat(1_000_000));
  // A square of it would be hours.
  expect(performance.now() - began).toBeLessThan(60_000);
});

test('what may be the beginning of a sequence is held back, but not for ever', () => {
  const cut = (text: string): number => cutSequence(Buffer.from(text));
  expect(['plain', 'a\x1b[0m', 'a\x1b', 'a\x1b[3', 'a\x1b]0;t', `a\x1b]0;${'t'.repeat(5000)}`].map(cut)).toEqual([
    0, 0, 1, 3, 5, 0,
  ]);
});
