import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyPiece, encode, makeScreen, states } from '../../../test/support/screen.ts';
import type { Screen } from './screen.ts';

/** What a viewer sees: a blank cell is a blank cell, whether or not it was written to. */
const seen = (screen: Screen) => {
  const { title, cursor, alternate, modes } = screen.facts;
  const { synchronized: _, ...kept } = modes;
  const lines = screen.grid().lines.map(({ cells }) => cells.map((c) => (c.text === ' ' ? { ...c, text: '' } : c)));
  return { title, cursor, alternate, modes: kept, lines };
};

const copyOf = (text: string): [Screen, Screen] => {
  const { screen } = makeScreen();
  screen.feed(encode(text));
  const copy = makeScreen().screen;
  copy.feed(encode(`${screen.snapshot({ scrollback: 100 })}`));
  copy.feed(screen.pending);
  return [screen, copy];
};

test('a snapshot makes a fresh terminal show the same', () => {
  fc.assert(
    fc.property(fc.array(anyPiece, { maxLength: 60 }), (pieces) => {
      const [screen, copy] = copyOf(pieces.join(''));
      expect(seen(copy)).toEqual(seen(screen));
    }),
    { numRuns: 150 },
  );
});

test('whatever is printed next does the same to both', () => {
  const part = fc.array(anyPiece, { maxLength: 40 });
  fc.assert(
    fc.property(part, part, (before, after) => {
      const [screen, copy] = copyOf(before.join(''));
      // The bell parts them: what repeats or joins the last character needs it to be printed, not shown.
      for (const one of [screen, copy]) one.feed(encode(`\x07${after.join('')}`));
      expect(seen(copy)).toEqual(seen(screen));
    }),
    { numRuns: 200 },
  );
});

test('the cursor, pen and modes go on as in the original', () => {
  for (const text of [`${'x'.repeat(20)}`, `a\x1b[31;1m`, `abc\x1b[?1049h\x1b[3;4Hmenu`, 'a漢'.repeat(9)]) {
    const [screen, copy] = copyOf(text);
    for (const s of [screen, copy]) s.feed(encode('next\r\n\x1b[?1049lback'));
    expect(seen(copy)).toEqual(seen(screen));
  }
});

test('scrollback comes along when asked for', () => {
  const text = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\r\n');
  const [screen, copy] = copyOf(text);
  expect(copy.text({ scope: 'all', wrap: 'join' })).toBe(screen.text({ scope: 'all', wrap: 'join' }));
  expect(screen.snapshot()).not.toContain('line 3\r\n');
});

describe.each(states)('%s', (_what, set, then) => {
  test('comes along', () => {
    const [screen, copy] = copyOf(set);
    expect(seen(copy)).toEqual(seen(screen));
    for (const one of [screen, copy]) one.feed(encode(then));
    expect(seen(copy)).toEqual(seen(screen));
  });
});

describe('what is not complete comes along', () => {
  const whole = [
    '\x1b[31mred\x1b[0m',
    '\x1b]2;title\x07\x1b]2;a longer title\x1b\\x',
    'é漢🙂',
    '\x9b1mbold',
    '\x1b]2;ü漢 \x07x',
    '\x1bP+q544e\x1b\\x',
    '\x1b(0q\x1b[38;2;1;2;3mx',
  ];
  test.each(whole)('%j, cut anywhere', (text) => {
    const bytes = encode(text);
    for (let first = 0; first < bytes.length; first++) {
      for (let second = first + 1; second < bytes.length; second++) {
        const { screen } = makeScreen();
        screen.feed(bytes.subarray(0, first));
        screen.feed(bytes.subarray(first, second));
        const copy = makeScreen().screen;
        copy.feed(Buffer.concat([encode(screen.snapshot()), screen.pending]));
        for (const one of [screen, copy]) one.feed(bytes.subarray(second));
        expect(seen(copy)).toEqual(seen(screen));
      }
    }
  });

  test('of a sequence without end only so much', () => {
    const { screen } = makeScreen();
    screen.feed(encode('\x1b]2;'));
    for (let i = 0; i < 100; i++) screen.feed(encode('x'.repeat(10_000)));
    expect(screen.pending.length).toBe(65_536);
    screen.feed(encode('\x07'));
    expect(screen.pending.length).toBe(0);
  });
});
