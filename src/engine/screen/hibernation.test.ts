import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyPiece, encode, everything, makeScreen } from '../../../test/support/screen.ts';

test('hibernating and waking up is invisible, now and for whatever is printed next', () => {
  const part = fc.array(anyPiece, { maxLength: 60 });
  fc.assert(
    fc.property(part, part, fc.boolean(), (before, after, resized) => {
      const [one, other] = [makeScreen({ scrollback: 9 }), makeScreen({ scrollback: 9 })];
      for (const { screen } of [one, other]) {
        screen.feed(encode(before.join('')));
        if (resized) screen.resize({ cols: 13, rows: 6 });
      }
      if (other.screen.hibernate() && before.join('') !== '') {
        expect(other.screen.state).toBe('asleep');
        expect(other.screen.facts).toEqual(one.screen.facts);
      }
      expect(everything(other.screen)).toEqual(everything(one.screen));
      other.screen.hibernate();
      for (const { screen } of [one, other]) screen.feed(encode(after.join('')));
      expect(everything(other.screen)).toEqual(everything(one.screen));
      expect(other.replies).toEqual(one.replies);
    }),
    { numRuns: 200 },
  );
});

test('half a character and a title stack survive', () => {
  const { screen } = makeScreen();
  screen.feed(encode('\x1b]2;old\x07\x1b[22t\x1b]2;new\x07'));
  screen.feed(encode('漢').subarray(0, 2));
  expect(screen.hibernate()).toBe(true);
  screen.feed(encode('漢').subarray(2));
  screen.feed(encode('\x1b[23t'));
  expect(screen.text({ scope: 'all', wrap: 'join' })).toBe('漢');
  expect(screen.title).toBe('old');
});

test('a screen within an escape sequence stays awake', () => {
  const { screen } = makeScreen();
  screen.feed(encode('\x1b[3'));
  expect(screen.hibernate()).toBe(false);
  screen.feed(encode('1mx'));
  expect(screen.hibernate()).toBe(true);
  expect(screen.grid().lines[0]?.cells[0]?.fg).toBe(1);
});

test('a thousand lines of text take less than 30 KB asleep', () => {
  const { screen } = makeScreen({ cols: 120, rows: 40 });
  for (let i = 0; i < 1100; i++) {
    const hash = Math.imul(i, 0x9e3779b1) >>> 0;
    screen.feed(
      encode(`\x1b[32m2026-01-01T00:00:${i % 60}Z\x1b[0m INFO request ${hash.toString(36)} took ${hash % 977} ms\r\n`),
    );
  }
  screen.hibernate();
  expect(screen.imageBytes).toBeGreaterThan(1000);
  expect(screen.imageBytes).toBeLessThan(30_000);
});
