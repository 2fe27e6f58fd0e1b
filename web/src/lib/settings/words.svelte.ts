import { feed } from '../feed.svelte.ts';

/** Words of these pages in the language that was chosen; English is in the pages themselves. */
class Words {
  #words = $state<Readonly<Record<string, string>>>({});
  #lang = 'en';

  async load(lang: string): Promise<void> {
    if (lang === this.#lang) return;
    this.#lang = lang;
    const answer = await feed.live?.call<{ words: Record<string, string> }>('lang.words', { code: lang });
    this.#words = answer?.words ?? {};
    document.documentElement.lang = lang;
  }

  /** The chosen language's word for a key; without one, the English one. */
  readonly of = (key: string, english: string): string => this.#words[key] ?? english;
}

export const words = new Words();
