/** Colours of a terminal, as `#rrggbb`. The web terminal uses the same tables, so they stay in the form CSS reads. */
export interface Theme {
  readonly name: string;
  readonly title: string;
  readonly foreground: string;
  readonly background: string;
  readonly cursor: string;
  /** The sixteen ANSI colours, normal then bright. */
  readonly colors: readonly string[];
}

const row = (text: string): string[] => text.split(' ').map((hex) => `#${hex}`);

export const standard: Theme = {
  name: 'standard',
  title: 'Catppuccin Mocha',
  foreground: '#cdd6f4',
  background: '#1e1e2e',
  cursor: '#f5e0dc',
  colors: [
    ...row('45475a f38ba8 a6e3a1 f9e2af 89b4fa f5c2e7 94e2d5 bac2de'),
    ...row('585b70 f38ba8 a6e3a1 f9e2af 89b4fa f5c2e7 94e2d5 a6adc8'),
  ],
};

const midnight: Theme = {
  name: 'midnight',
  title: 'Tokyo Night',
  foreground: '#c0caf5',
  background: '#1a1b26',
  cursor: '#c0caf5',
  colors: [
    ...row('15161e f7768e 9ece6a e0af68 7aa2f7 bb9af7 7dcfff a9b1d6'),
    ...row('414868 f7768e 9ece6a e0af68 7aa2f7 bb9af7 7dcfff c0caf5'),
  ],
};

const daylight: Theme = {
  name: 'daylight',
  title: 'Builtin Solarized Light',
  foreground: '#657b83',
  background: '#fdf6e3',
  cursor: '#657b83',
  colors: [
    ...row('073642 dc322f 859900 b58900 268bd2 d33682 2aa198 eee8d5'),
    ...row('002b36 cb4b16 586e75 657b83 839496 6c71c4 93a1a1 fdf6e3'),
  ],
};

const classic: Theme = {
  name: 'classic',
  title: 'Builtin Tango Dark',
  foreground: '#ffffff',
  background: '#000000',
  cursor: '#ffffff',
  colors: [
    ...row('000000 cc0000 4e9a06 c4a000 3465a4 75507b 06989a d3d7cf'),
    ...row('555753 ef2929 8ae234 fce94f 729fcf ad7fa8 34e2e2 eeeeec'),
  ],
};

export const themes: readonly Theme[] = [standard, midnight, daylight, classic];

/** The built-in theme of that name; an unknown name gives `standard`. */
export function themeNamed(name: string | undefined): Theme {
  return themes.find((theme) => theme.name === name) ?? standard;
}
