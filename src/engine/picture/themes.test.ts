import { expect, test } from 'vitest';
import { paletteOf, rgbOf } from './color.ts';
import { parseTheme, themeNamed, themes } from './themes.ts';

test('R-RPC-142 four themes, sixteen colours each, on the documented backgrounds', () => {
  expect(themes.map(({ name, title, background }) => [name, title, background])).toEqual([
    ['standard', 'Catppuccin Mocha', '#1e1e2e'],
    ['midnight', 'Tokyo Night', '#1a1b26'],
    ['daylight', 'Builtin Solarized Light', '#fdf6e3'],
    ['classic', 'Builtin Tango Dark', '#000000'],
  ]);
  for (const theme of themes) expect(parseTheme(theme)).toEqual(theme);
});

test('R-RPC-142 an unknown name is standard', () => {
  expect(themeNamed('midnight').title).toBe('Tokyo Night');
  expect(themeNamed('nope').name).toBe('standard');
  expect(themeNamed(undefined).name).toBe('standard');
});

test('R-RPC-142 a theme from outside is checked', () => {
  const good = { foreground: '#FFFFFF', background: '#000000', colors: Array.from({ length: 16 }, () => '#123456') };
  expect(parseTheme(good)).toMatchObject({ name: 'custom', foreground: '#ffffff', cursor: '#ffffff' });
  for (const wrong of [
    null,
    'standard',
    { ...good, background: 'black' },
    { ...good, foreground: 7 },
    { ...good, colors: good.colors.slice(1) },
    { ...good, colors: [...good.colors.slice(1), '#12345'] },
  ]) {
    expect(() => parseTheme(wrong)).toThrow(expect.objectContaining({ code: 'invalid_input' }) as Error);
  }
});

test('the 256 colours are the theme, the cube and the greys', () => {
  const palette = paletteOf(themeNamed('classic'));
  const colors = [1, 16, 21, 231, 232, 255].map((color) => rgbOf(color, palette, 0).toString(16).padStart(6, '0'));
  expect(colors).toEqual(['cc0000', '000000', '0000ff', 'ffffff', '080808', 'eeeeee']);
  expect(palette.indexed.length).toBe(256);
  expect(rgbOf(-1, palette, 0xabcdef)).toBe(0xabcdef);
});
