import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { packageRoot } from '../../system/package-root.ts';
import { LanguageCode } from './files.ts';

/** Words of the pages by key. `language` is the language's own name for itself. */
const Words = z.record(z.string().max(100), z.string().max(1000));

export interface Language {
  readonly code: string;
  readonly name: string;
}

const mostBytes = 256 << 10;
const mostLanguages = 100;

/** English is complete and comes with the package; a person may add others as `lang/<code>.json` in the state folder. */
export class Languages {
  readonly #folder: string;
  readonly #shipped = fileURLToPath(new URL('assets/lang/', packageRoot));

  constructor(root: string) {
    this.#folder = join(root, 'lang');
  }

  list(): Language[] {
    const codes = new Set([...codesIn(this.#shipped), ...codesIn(this.#folder)]);
    return [...codes]
      .sort()
      .slice(0, mostLanguages)
      .flatMap((code) => {
        const own = this.#own(code);
        return own ? [{ code, name: own['language'] ?? code }] : [];
      });
  }

  /** All words in this language; English where it has none. Undefined: there is no such language. */
  words(code: string): Readonly<Record<string, string>> | undefined {
    const own = this.#own(code);
    return own && { ...this.#own('en'), ...own };
  }

  #own(code: string): Readonly<Record<string, string>> | undefined {
    // A caller may send any text, and this one becomes a path.
    if (!LanguageCode.safeParse(code).success) return undefined;
    return wordsIn(join(this.#shipped, `${code}.json`)) ?? wordsIn(join(this.#folder, `${code}.json`));
  }
}

function codesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []);
    return names.filter((name) => LanguageCode.safeParse(name).success);
  } catch {
    return [];
  }
}

function wordsIn(path: string): Readonly<Record<string, string>> | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return text.length > mostBytes ? undefined : Words.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
