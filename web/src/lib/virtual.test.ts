import fc from 'fast-check';
import { expect, test } from 'vitest';
import { windowOf } from './virtual.ts';

test('the drawn rows cover what is visible, and the rest is empty space of the same height', () => {
  const heights = fc.array(fc.constantFrom(34, 50), { maxLength: 400 });
  fc.assert(
    fc.property(heights, fc.nat(20_000), fc.integer({ min: 1, max: 1200 }), (items, top, visible) => {
      const { from, to, before, after, whole } = windowOf(items, (height) => height, top, visible);
      const drawn = items.slice(from, to).reduce((sum, height) => sum + height, 0);
      expect(before + drawn + after).toBe(whole);
      expect(to - from).toBeLessThanOrEqual(Math.ceil(visible / 34) + 20);
      // Every row that is visible is drawn.
      let end = 0;
      items.forEach((height, at) => {
        const start = end;
        end += height;
        if (end > top && start < top + visible) expect(at >= from && at < to).toBe(true);
      });
    }),
  );
});
