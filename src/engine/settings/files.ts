import { z } from 'zod';
import { standard } from '../picture/themes.ts';

/** `scrollback.json`: rows above the screen that can be read. */
export const scrollbackBounds = { least: 100, usual: 10_000, most: 999_999_999 } as const;
export const Lines = z.number().int().min(scrollbackBounds.least).max(scrollbackBounds.most);
export const ScrollbackFile = z.object({ lines: Lines.default(scrollbackBounds.usual) });

/** `compat.json`: what programs are told of their terminal. */
export const TermProgram = z
  .string()
  .min(1)
  .max(64)
  // oxlint-disable-next-line no-control-regex
  .regex(/^[^\x00-\x1f\x7f-\x9f]*$/, 'must have no control characters');
export const CompatFile = z.object({ term_program: TermProgram.default('Fairlead') });

/** `lang.json`: the language of pages. */
export const LanguageCode = z.string().regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/, 'must be a language such as en');
export const LangFile = z.object({ lang: LanguageCode.default('en') });

/** `theme.json`. Only `theme` counts; the other two tell readers of the file what it stands for. */
export const ThemeName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be the name of a theme');
export const ThemeFile = z.object({
  theme: ThemeName.default(standard.name),
  name: z.string().max(200).optional(),
  color_scheme: z.string().max(200).optional(),
});

const Hex = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as #1e1e2e');

/** `themes/<name>.json`. What it leaves out is as in the standard theme. */
export const CustomTheme = z.object({
  title: z.string().min(1).max(200).optional(),
  foreground: Hex.default(standard.foreground),
  background: Hex.default(standard.background),
  cursor: Hex.default(standard.cursor),
  colors: z
    .array(Hex)
    .length(16)
    .default([...standard.colors]),
});
