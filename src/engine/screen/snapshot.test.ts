import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyPiece, encode, makeScreen } from '../../../test/support/screen.ts';
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
