import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contrast, readable } from './contrast.ts';

test('the ratio of WCAG 2', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.478, 2);
});

test('a colour that can be read stays; another becomes one that can, on light and dark grounds', () => {
  expect(readable('#cdd6f4', '#1e1e2e')).toBe('#cdd6f4');
  for (const ground of ['#fdf6e3', '#000000', '#1e1e2e', '#808080']) {
    for (const color of ['#657b83', '#cc0000', '#1e1e2e', '#ffff00']) {
      expect(contrast(readable(color, ground), ground), `${color} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    }
  }
  expect(readable('red', '#ffffff')).toBe('red');
});

describe('look.md, Colour: the tables of app.css', () => {
  const css = readFileSync(join(import.meta.dirname, '..', 'app.css'), 'utf8');
  const tokens = (theme: 'dark' | 'light'): Record<string, string> => {
    const [, block = ''] = new RegExp(`\\[data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(css) ?? [];
    return Object.fromEntries(
      [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]),
    );
  };
  const grounds = ['bg', 'panel', 'raise'];
  const texts = ['ink', 'ink-2', 'ink-3', 'work', 'ok'];
  const tinted = { need: 'need-bg', bad: 'bad-bg', you: 'you-bg', agent: 'agent-bg' };

  test.each(['dark', 'light'] as const)('%s: text 4.5, edges and focus 3', (theme) => {
    const color = tokens(theme);
    const ratio = (one: string, ground: string): number => contrast(color[one] ?? '', color[ground] ?? '');
    for (const ground of grounds) {
      for (const text of [...texts, ...Object.keys(tinted)]) {
        expect(ratio(text, ground), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
      }
      for (const line of ['edge', 'focus'])
        expect(ratio(line, ground), `${line} on ${ground}`).toBeGreaterThanOrEqual(3);
    }
    for (const [text, ground] of Object.entries(tinted)) expect(ratio(text, ground), text).toBeGreaterThanOrEqual(4.5);
    expect(ratio('on-solid', 'solid')).toBeGreaterThanOrEqual(4.5);
    expect(ratio('on-need', 'need-fill')).toBeGreaterThanOrEqual(4.5);
  });
});
