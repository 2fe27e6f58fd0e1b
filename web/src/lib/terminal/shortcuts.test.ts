import { expect, test } from 'vitest';
import { shortcutOf } from './shortcuts.ts';

const pressed = (code: string, held: string) => ({
  key: code,
  code,
  ctrlKey: held.includes('c'),
  shiftKey: held.includes('s'),
  altKey: held.includes('a'),
  metaKey: held.includes('m'),
});

test('with the focus in the terminal only the documented keys are the page’s', () => {
  const taken = ['KeyF', 'KeyC', 'KeyV', 'KeyB', 'KeyL', 'ArrowUp', 'ArrowDown'].map((code) =>
    shortcutOf(pressed(code, 'cs'), false, false),
  );
  expect(taken).toEqual(['find', 'copy', 'paste', 'rail', 'text', 'block_up', 'block_down']);
  expect(shortcutOf(pressed('PageUp', 's'), false, false)).toBe('up');
  expect(shortcutOf(pressed('PageDown', 's'), false, false)).toBe('down');
  expect(shortcutOf(pressed('BracketRight', 'c'), true, false)).toBe('leave');
  for (const [code, held] of [
    ['KeyC', 'c'],
    ['KeyF', ''],
    ['PageUp', ''],
    ['KeyF', 'cas'],
    ['Tab', ''],
    ['KeyK', 'cs'],
  ]) {
    expect(shortcutOf(pressed(code ?? '', held ?? ''), false, false), `${held} ${code}`).toBeUndefined();
  }
  expect(shortcutOf(pressed('KeyC', 'm'), false, true)).toBe('copy');
  expect(shortcutOf(pressed('KeyC', 'm'), false, false)).toBeUndefined();
});
