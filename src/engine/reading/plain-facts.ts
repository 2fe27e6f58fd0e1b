import { addFlags, type PlainText, plainText, type TextFlags } from '../../lib/plain-text.ts';

/** Names, directories and the like of one answer, as a model may read them; adds up what was taken out of them. */
export class PlainFacts {
  #flags: TextFlags = {};

  /** A fact of one line: what would begin another one is a control character in it. */
  line(text: string): string {
    return this.#keep(plainText(text.replace(/[\t\n\u0085\u2028\u2029]/g, '\0')));
  }

  /** Rows of a screen, a command: line ends are kept. */
  text(text: string): string {
    return this.#keep(plainText(text, { separator: ' ' }));
  }

  /** To be spread into the answer: nothing where nothing was taken out. */
  get flags(): { readonly flags?: TextFlags } {
    return Object.keys(this.#flags).length === 0 ? {} : { flags: this.#flags };
  }

  #keep({ text, flags }: PlainText): string {
    this.#flags = addFlags(this.#flags, flags);
    return text;
  }
}
