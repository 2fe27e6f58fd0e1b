import { between, readable } from './contrast.ts';
import { dim, inverse, lookClass, looks } from './peek-look.ts';
import type { TerminalTheme } from './shapes.ts';

type Colors = Pick<TerminalTheme, 'background' | 'foreground' | 'colors'>;

/** The colours of a look, with the correction of xterm.js: text can be read on its ground, whatever the theme says. */
export function lookColors(bits: number, theme: Colors): { readonly text: string; readonly ground?: string } {
  const color = (index: number, usual: string): string => (index === 0 ? usual : (theme.colors[index - 1] ?? usual));
  const own = color(bits & 31, theme.foreground);
  const other = color((bits >> 5) & 31, theme.background);
  const [text, ground] = bits & inverse ? [other, own] : [own, other];
  const wanted = bits & dim ? between(text, ground, 0.4) : text;
  return { text: readable(wanted, ground), ...(ground !== theme.background && { ground }) };
}

/** A stylesheet with a rule for each look that was ever shown; a new theme writes them again. Until it is there, text has one colour. */
export class PeekPalette {
  readonly #sheet = new CSSStyleSheet();
  #theme: Colors | undefined;

  constructor() {
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.#sheet];
    looks.onNew((bits) => {
      if (this.#theme) this.#sheet.insertRule(rule(bits, this.#theme));
    });
  }

  set theme(theme: Colors) {
    this.#theme = theme;
    this.#sheet.replaceSync(
      looks
        .all()
        .map((bits) => rule(bits, theme))
        .join('\n'),
    );
  }
}

function rule(bits: number, theme: Colors): string {
  const { text, ground } = lookColors(bits, theme);
  const [name = ''] = lookClass(bits).split(' ');
  return `.peek .${name} { color: ${text};${ground === undefined ? '' : ` background: ${ground};`} }`;
}
