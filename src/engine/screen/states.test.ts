import { describe, expect, test } from 'vitest';
import { encode, everything, makeScreen, states } from '../../../test/support/screen.ts';

describe.each(states)('%s', (_what, set, then) => {
  const awake = makeScreen();
  awake.screen.feed(encode(set));
  const before = everything(awake.screen);
  awake.screen.feed(encode(then));
  const after = everything(awake.screen);

  test('survives sleep', () => {
    const { screen } = makeScreen();
    screen.feed(encode(set));
    expect(screen.hibernate()).toBe(true);
    expect(everything(screen)).toEqual(before);
    expect(screen.hibernate()).toBe(true);
    screen.feed(encode(then));
    expect(everything(screen)).toEqual(after);
  });

  test('survives being kept as bytes', () => {
    const first = makeScreen().screen;
    first.feed(encode(set));
    const { screen } = makeScreen({ saved: first.save() });
    expect(everything(screen)).toEqual(before);
    screen.feed(encode(then));
    expect(everything(screen)).toEqual(after);
  });
});
