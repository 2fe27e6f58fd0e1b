import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StateFile } from '../../system/files/state-file.ts';
import { type Theme, themes as builtIn, standard } from '../picture/themes.ts';
import { CustomTheme, ThemeName } from './files.ts';
import type { SettingsOptions } from './settings.ts';

export interface ListedTheme extends Theme {
  readonly custom: boolean;
  /** Why its file cannot be used, and where. */
  readonly error?: string;
}

/** More files than a person could have written are not themes. */
const mostCustom = 200;

/** The themes of a state root: four of our own, and a file for each that a person made. */
export class Themes {
  readonly #folder: string;
  readonly #options: SettingsOptions;
  readonly #files = new Map<string, StateFile<typeof CustomTheme>>();

  constructor(options: SettingsOptions) {
    this.#options = options;
    this.#folder = join(options.root, 'themes');
  }

  list(): ListedTheme[] {
    const own = builtIn.map((theme) => ({ ...theme, custom: false }));
    return [...own, ...this.#names().map((name) => this.#custom(name))];
  }

  find(name: string): ListedTheme | undefined {
    const own = builtIn.find((theme) => theme.name === name);
    if (own) return { ...own, custom: false };
    return this.#names().includes(name) ? this.#custom(name) : undefined;
  }

  /** Reads files again that were edited by hand. */
  look(): void {
    for (const file of this.#files.values()) file.look();
  }

  #custom(name: string): ListedTheme {
    const { clock, warn } = this.#options;
    const path = join(this.#folder, `${name}.json`);
    let file = this.#files.get(name);
    if (!file) {
      file = new StateFile({ path, schema: CustomTheme, clock, warn });
      this.#files.set(name, file);
    }
    const { title = name, ...colours } = file.get();
    const { complaint } = file;
    return { name, title, ...colours, custom: true, ...(complaint === undefined ? {} : { error: complaint }) };
  }

  #names(): string[] {
    let found: string[];
    try {
      found = readdirSync(this.#folder);
    } catch {
      return [];
    }
    const isOwn = (name: string): boolean => builtIn.some((theme) => theme.name === name);
    return found
      .flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? [])
      .filter((name) => ThemeName.safeParse(name).success && !isOwn(name))
      .sort()
      .slice(0, mostCustom);
  }
}

export const fallback: ListedTheme = { ...standard, custom: false };
