import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Screen } from '../screen.ts';
import { anyPiece, encode, everything, makeScreen, plainPiece } from '../../../../test/support/screen.ts';

/** Long enough to be skipped: the pieces over and over. */
const flood = (pieces: readonly string[]): string => {
  const text = `${pieces.join('')}\r\n`;
  return text.repeat(Math.ceil(24_000 / encode(text).length));
};

/** Follows `bytes` as they come, `cut` at a time, and shows them; how many it took. */
const forward = (screen: Screen, bytes: Uint8Array, cut = bytes.length): number => {
  const scan = screen.follow(0);
  if (!scan) return 0;
  for (let to = cut; !scan.stopped && to < bytes.length + cut; to += cut) {
    scan.follow(bytes.subarray(scan.end, to));
    if (to % 3 === 0) scan.skip(bytes.subarray(scan.from, scan.end));
  }
  return screen.fastForward(scan, bytes.subarray(scan.from, scan.end)) ? scan.end : 0;
};

const compare = (
  start: string,
  text: string,
  { cut, ...size }: { cols: number; rows: number; scrollback: number; cut: number },
): number => {
  const [fed, skipped] = [makeScreen(size), makeScreen(size)];
  for (const { screen } of [fed, skipped]) screen.feed(encode(start));
  const bytes = encode(text);
  fed.screen.feed(bytes);
  const done = forward(skipped.screen, bytes, cut);
  skipped.screen.feed(bytes.subarray(done));
  expect(everything(skipped.screen)).toEqual(everything(fed.screen));
  // What comes next must find the same pen, modes and saved cursor.
  for (const { screen } of [fed, skipped]) screen.feed(encode('\x1b[bx\x1b[Ky\x1b8z\r\nend'));
  expect(everything(skipped.screen)).toEqual(everything(fed.screen));
  return done;
};

const sizes = fc.record({
  cols: fc.integer({ min: 2, max: 40 }),
  rows: fc.integer({ min: 1, max: 9 }),
  scrollback: fc.integer({ min: 0, max: 30 }),
  cut: fc.integer({ min: 60, max: 30_000 }),
});

describe('fast-forward leaves the same screen as parsing everything', () => {
  test('after text of which most can be skipped', () => {
    let skips = 0;
    fc.assert(
      fc.property(
        fc.array(anyPiece, { maxLength: 8 }),
        fc.array(plainPiece, { minLength: 1, maxLength: 25 }),
        sizes,
        (start, pieces, size) => {
          if (compare(start.join(''), flood(pieces), size) > 0) skips++;
        },
      ),
      { numRuns: 100 },
    );
    expect(skips).toBeGreaterThan(25);
  });

  test('after text with anything in it', () => {
    fc.assert(
      fc.property(
        fc.array(plainPiece, { minLength: 1, maxLength: 12 }),
        fc.array(anyPiece, { minLength: 1, maxLength: 12 }),
        sizes,
        (plain, pieces, size) => {
          compare('', flood(plain) + flood(pieces), size);
        },
      ),
      { numRuns: 50 },
    );
  });
});

const size = { cols: 20, rows: 5, scrollback: 20 };

test('most of a plain flood is skipped, and the rows are counted all the same', () => {
  const { screen } = makeScreen(size);
  const bytes = encode(`${'x'.repeat(50)}\r\n`.repeat(10_000));
  const done = forward(screen, bytes);
  expect(done).toBe(bytes.length);
  expect(screen.viewportTop + screen.cursor.y).toBe(30_000);
  expect(screen.scrollbackRows).toBe(20);
});

test.each([
  ['the alternate screen', '\x1b[?1049h'],
  ['margins', '\x1b[2;4r'],
  ['no autowrap', '\x1b[?7l'],
  ['insert mode', '\x1b[4h'],
  ['origin mode', '\x1b[?6h'],
  ['line feeds that return', '\x1b[20h'],
  ['line drawing', '\x1b(0'],
  ['other tab stops', '\x1b[3g'],
  ['half a sequence', '\x1b['],
  ['half a character', '\xe2'],
])('nothing is skipped with %s', (_, start) => {
  const { screen } = makeScreen(size);
  screen.feed(start === '\xe2' ? Uint8Array.of(0xe2) : encode(start));
  expect(forward(screen, encode('line\r\n'.repeat(9_000)))).toBe(0);
});

test('nothing is skipped unless enough rows follow it', () => {
  const { screen } = makeScreen({ ...size, scrollback: 100_000 });
  const bytes = encode('line\r\n'.repeat(9_000));
  expect(forward(screen, bytes)).toBe(0);
});
