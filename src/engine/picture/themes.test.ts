import { expect, test } from 'vitest';
import { paletteOf, rgbOf } from './color.ts';
import { themeNamed, themes } from './themes.ts';

test('R-RPC-142 four themes, sixteen colours each, on the documented backgrounds', () => {
  expect(themes.map(({ name, title, background }) => [name, title, background])).toEqual([
    ['standard', 'Catppuccin Mocha', '#1e1e2e'],
    ['midnight', 'Tokyo Night', '#1a1b26'],
    ['daylight', 'Builtin Solarized Light', '#fdf6e3'],
    ['classic', 'Builtin Tango Dark', '#000000'],
  ]);
  for (const { foreground, background, cursor, colors } of themes) {
    expect(colors).toHaveLength(16);
    for (const color of [foreground, background, cursor, ...colors]) expect(color).toMatch(/^#[0-9a-f]{6}$/);
  }
});

test('R-RPC-142 an unknown name is standard', () => {
  expect(themeNamed('midnight').title).toBe('Tokyo Night');
  expect(themeNamed('nope').name).toBe('standard');
  expect(themeNamed(undefined).name).toBe('standard');
});

test('the 256 colours are the theme, the cube and the greys', () => {
  const palette = paletteOf(themeNamed('classic'));
  const colors = [1, 16, 21, 231, 232, 255].map((color) => rgbOf(color, palette, 0).toString(16).padStart(6, '0'));
  expect(colors).toEqual(['cc0000', '000000', '0000ff', 'ffffff', '080808', 'eeeeee']);
  expect(palette.indexed.length).toBe(256);
  expect(rgbOf(-1, palette, 0xabcdef)).toBe(0xabcdef);
});
