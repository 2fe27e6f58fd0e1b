import { between, contrast, readable } from './contrast.ts';
import { PeekPalette } from './peek-palette.ts';
import type { TerminalTheme } from './shapes.ts';

/** Names and stripes on terminals: the dark theme's colours on dark grounds, the light theme's on light ones. */
const names = {
  dark: { '--t-you': '#74acff', '--t-agent': '#b9a2ff', '--t-need': '#ffb43d' },
  light: { '--t-you': '#1d5fd0', '--t-agent': '#6a45d4', '--t-need': '#8f5200' },
} as const;

const palette = new PeekPalette();

/** Terminal surfaces take their colours from the theme of the server, on either theme of the page. */
export function paintTerminals(theme: TerminalTheme): void {
  const { style } = document.documentElement;
  const { background, foreground, colors } = theme;
  const isDark = contrast('#ffffff', background) >= contrast('#000000', background);
  const tokens = {
    '--t-bg': background,
    '--t-fg': readable(foreground, background),
    '--t-dim': readable(between(foreground, background), background),
    '--t-line': between(background, foreground, 0.12),
    ...names[isDark ? 'dark' : 'light'],
    ...Object.fromEntries(colors.map((color, at) => [`--t-${at + 1}`, color])),
  };
  for (const [name, value] of Object.entries(tokens)) style.setProperty(name, value);
  palette.theme = theme;
}
