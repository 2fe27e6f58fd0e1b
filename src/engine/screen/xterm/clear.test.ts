import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../system/clock.ts';
import { Screen } from '../screen.ts';

function shown(text: string): Screen {
  const screen = new Screen({ size: { cols: 10, rows: 4 }, clock: systemClock });
  screen.feed(new TextEncoder().encode(text));
  return screen;
}
const all = (screen: Screen): string => screen.text({ scope: 'all', wrap: 'join' });
const feed = (screen: Screen, text: string): void => screen.feed(new TextEncoder().encode(text));

describe('R-TERM-053: clear', () => {
  test('keeps all rows of a wrapped line, prompt included', () => {
    const screen = shown('1\r\n2\r\n3\r\n4\r\nuser@host$ a long command');
    screen.clear();
    expect(all(screen)).toBe('user@host$ a long command');
    expect(screen).toMatchObject({ cursor: { x: 5, y: 2 }, scrollbackRows: 0, baseRow: 4, epoch: 1 });
    feed(screen, '!');
    expect(all(screen)).toBe('user@host$ a long command!');
  });

  test('keeps them also when the cursor is not on the last of them', () => {
    const screen = shown('1\r\n2\r\nuser@host$ a long command\x1b[A\x1b[A');
    screen.clear();
    expect(all(screen)).toBe('user@host$ a long command');
    expect(screen.cursor).toMatchObject({ x: 5, y: 0 });
  });

  test('keeps a line longer than the screen, the rest of it above', () => {
    const line = `$ ${'0123456789'.repeat(6)}`;
    const screen = shown(`before\r\n${line}`);
    screen.clear();
    expect(all(screen)).toBe(line);
    expect(screen).toMatchObject({ cursor: { x: 2, y: 3 }, scrollbackRows: 3 });
    feed(screen, '\r\nnext');
    expect(all(screen)).toBe(`${line}\nnext`);
  });

  test('keeps nothing when told that no prompt is there', () => {
    const screen = shown('1\r\n2\r\npartial');
    screen.clear(false);
    expect(all(screen)).toBe('');
    expect(screen).toMatchObject({ cursor: { x: 0, y: 0 }, scrollbackRows: 0, baseRow: 2, epoch: 1 });
    feed(screen, 'more\r\nand more');
    expect(all(screen)).toBe('more\nand more');
  });
});
