import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contrast } from './contrast.ts';
import { lookColors } from './peek-palette.ts';

test('every look of a small picture can be read, whatever the theme (as xterm.js does it)', () => {
  // Solarized: 4.1:1 for its own text.
  const solarized = {
    foreground: '#839496',
    background: '#002b36',
    colors:
      '#073642 #dc322f #859900 #b58900 #268bd2 #d33682 #2aa198 #eee8d5 #002b36 #cb4b16 #586e75 #657b83 #839496 #6c71c4 #93a1a1 #fdf6e3'.split(
        ' ',
      ),
  };
  for (const modes of [0, 1024, 2048, 4096, 2048 | 4096]) {
    for (let look = 0; look < 17 * 32; look++) {
      if ((look & 31) > 16) continue;
      const { text, ground = solarized.background } = lookColors(look | modes, solarized);
      expect(contrast(text, ground)).toBeGreaterThanOrEqual(4.5);
    }
  }
  // What can be read already is left as it is.
  expect(lookColors(8, solarized).text).toBe('#eee8d5');
});

test('both themes of the page have the same tokens, and no other colour stands in app.css', () => {
  const css = readFileSync(join(import.meta.dirname, '..', 'app.css'), 'utf8');
  const tokens = (theme: string): string[] => {
    const [, block = ''] = new RegExp(`\\[data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(css) ?? [];
    return [...block.matchAll(/(--[\w-]+):/g)].map(([, name = '']) => name);
  };
  expect(tokens('dark').length).toBeGreaterThan(25);
  expect(tokens('light')).toEqual(tokens('dark'));
  const literal = css.match(/^(?!\s*--).*#[0-9a-f]{3,8}\b.*$/gim) ?? [];
  expect(literal).toEqual([]);
});
