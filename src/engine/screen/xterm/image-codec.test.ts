import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyPiece, encode, everything, makeScreen } from '../../../../test/support/screen.ts';
import { decodeScreen } from './image-codec.ts';

test('a screen made of saved bytes is the same, now and for whatever is printed next', () => {
  const part = fc.array(anyPiece, { maxLength: 60 });
  fc.assert(
    fc.property(part, part, fc.boolean(), fc.boolean(), (before, after, resized, asleep) => {
      const one = makeScreen({ scrollback: 9 });
      one.screen.feed(encode(before.join('')));
      if (resized) one.screen.resize({ cols: 13, rows: 6 });
      if (asleep) one.screen.hibernate();
      const saved = one.screen.save();
      if (!saved) return;
      const other = makeScreen({ scrollback: 9, saved: saved.length > 0 ? saved : undefined });
      if (saved.length === 0) other.screen.resize(one.screen.size);
      else {
        // Asked before anything wakes it up.
        expect(other.screen.state).toBe('asleep');
        expect(other.screen.facts).toEqual(one.screen.facts);
      }
      expect(other.screen.size).toEqual(one.screen.size);
      expect(everything(other.screen)).toEqual(everything(one.screen));
      const told = one.replies.length;
      for (const { screen } of [one, other]) screen.feed(encode(after.join('')));
      expect(everything(other.screen)).toEqual(everything(one.screen));
      expect(other.replies).toEqual(one.replies.slice(told));
    }),
    { numRuns: 300 },
  );
});

test('saving changes nothing, and is refused within an escape sequence', () => {
  const { screen } = makeScreen();
  screen.feed(encode('\x1b[31mred\x1b(0lqk\x1b(B'));
  const before = everything(screen);
  expect(screen.save()?.length).toBeGreaterThan(100);
  expect(everything(screen)).toEqual(before);
  screen.feed(encode('\x1b[3'));
  expect(screen.save()).toBeUndefined();
});

test('what was not saved by this format is not read', () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('abc'), Buffer.alloc(50), Buffer.from('\0\0\0\x0d{"version":9}')]) {
    expect(decodeScreen(bytes)).toBeUndefined();
  }
});
