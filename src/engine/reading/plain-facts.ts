import { addFlags, type PlainText, plainText, type TextFlags } from '../../lib/plain-text.ts';

/** Cleans names, directories and other facts of one answer for a model, and counts what was removed. */
export class PlainFacts {
  #flags: TextFlags = {};

  /** A one-line fact: line breaks count as control characters. */
  line(text: string): string {
    return this.#keep(plainText(text.replace(/[\t\n\u0085\u2028\u2029]/g, '\0')));
  }

  /** Rows of a screen, a command: line ends are kept. */
  text(text: string): string {
    return this.#keep(plainText(text, { separator: ' ' }));
  }

  /** For spreading into the answer: empty if nothing was removed. */
  get flags(): { readonly flags?: TextFlags } {
    return Object.keys(this.#flags).length === 0 ? {} : { flags: this.#flags };
  }

  #keep({ text, flags }: PlainText): string {
    this.#flags = addFlags(this.#flags, flags);
    return text;
  }
}
