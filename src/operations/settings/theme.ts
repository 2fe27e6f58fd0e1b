import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { operation } from '../../engine/call/operation.ts';
import { personSettings } from '../../engine/settings/settings.ts';
import type { ListedTheme } from '../../engine/settings/themes.ts';
import { FileError, fileError } from '../file-error.ts';

const Theme = z.object({
  name: z.string(),
  color_scheme: z.string(),
  foreground: z.string(),
  background: z.string(),
  cursor: z.string(),
  colors: z.array(z.string()).describe('The sixteen ANSI colours'),
  custom: z.boolean(),
  error: FileError,
});

const factsOf = ({ title, colors, error, ...theme }: ListedTheme): z.output<typeof Theme> => ({
  ...theme,
  color_scheme: title,
  colors: [...colors],
  ...fileError(error),
});

export const list = operation({
  title: 'List themes',
  cliDefault: true,
  summary: 'The themes of terminals: four of our own, and those in the folder themes/.',
  access: 'observe',
  http: [{ method: 'GET', path: '/api/themes' }],
  input: z.strictObject({}),
  output: z.object({ current: z.string(), themes: z.array(Theme), error: FileError }),
  async run({ engine }) {
    const settings = engine.service(personSettings);
    const themes = settings.themes.list().map(factsOf);
    return { current: settings.theme.name, themes, ...fileError(settings.problem('theme')) };
  },
  render: ({ current, themes, error }) =>
    [
      ...themes.map(
        (one) =>
          `${one.name === current ? '*' : ' '} ${one.name}  ${one.color_scheme}${one.error === undefined ? '' : `  (${one.error})`}`,
      ),
      ...(error === undefined ? [] : [error]),
    ].join('\n'),
});

export const current = operation({
  title: 'Current theme',
  summary: 'The theme in force, with its colours.',
  access: 'observe',
  http: [
    { method: 'GET', path: '/api/settings/theme' },
    { method: 'GET', path: '/api/theme' },
  ],
  input: z.strictObject({}),
  output: z.object({ theme: z.string(), color_scheme: z.string(), palette: Theme, error: FileError }),
  async run({ engine }) {
    const settings = engine.service(personSettings);
    const { theme } = settings;
    const palette = factsOf(theme);
    return { theme: theme.name, color_scheme: theme.title, palette, ...fileError(settings.problem('theme')) };
  },
  render: ({ theme, color_scheme, error }) => `${theme}  ${color_scheme}${error === undefined ? '' : `\n${error}`}`,
});

const switchTo = operation({
  title: 'Switch the theme',
  summary: 'Use another theme: for pictures, pages, and what new sessions tell programs of their colours.',
  access: 'administer',
  destructive: false,
  idempotent: true,
  openWorld: false,
  http: [
    { method: 'POST', path: '/api/theme' },
    { method: 'PUT', path: '/api/settings/theme', takes: ['name', 'theme'], input: named },
  ],
  input: z.strictObject({ name: z.string().min(1).max(64).describe('Name of the theme') }),
  output: z.object({ applied: z.literal(true), theme: z.string(), color_scheme: z.string() }),
  positional: ['name'],
  about: ({ name }) => ({ detail: name }),
  async run({ input, engine }) {
    const { name, title } = engine.service(personSettings).setTheme(input.name);
    return { applied: true as const, theme: name, color_scheme: title };
  },
  render: ({ theme, color_scheme }) => `The theme is ${theme} (${color_scheme}).`,
});
export { switchTo as switch };

/** What GET calls `theme`, PUT takes under that name, too. */
function named({ theme, name, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (theme !== undefined && name !== undefined && theme !== name) {
    throw new FairleadError('invalid_input', 'name and theme mean the same and differ.', { hint: 'Send one of them.' });
  }
  return { ...rest, ...(name === undefined && theme === undefined ? {} : { name: name ?? theme }) };
}
