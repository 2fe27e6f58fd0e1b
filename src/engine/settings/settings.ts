import { watch } from 'node:fs';
import { basename, join } from 'node:path';
import type { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { quote } from '../../contract/quote.ts';
import type { Clock } from '../../lib/clock.ts';
import { Emitter } from '../../lib/emitter.ts';
import { StateFile, type WatchedFile } from '../../system/files/state-file.ts';
import { serviceKey } from '../call/service.ts';
import type { Theme } from '../picture/themes.ts';
import { CompatFile, LangFile, ScrollbackFile, ThemeFile } from './files.ts';
import { Languages } from './languages.ts';
import { fallback, type ListedTheme, Themes } from './themes.ts';

export interface SettingsOptions {
  readonly root: string;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/** A settings file as it is now. */
export interface SettingsFile {
  /** The file without its ending: `policy`. */
  readonly name: string;
  readonly file: string;
  /** Why it cannot be used, with its path and line. */
  readonly error?: string;
  /** The newest change since the server began, in milliseconds since 1970. */
  readonly changedAt?: number;
  /** That change was made by an editor or another process. */
  readonly byHand: boolean;
}

/** Editors write a file in several steps. */
const settleMs = 100;

/** What a person chose for this state root, one file per concern; hand edits count within two seconds. */
export class PersonSettings implements AsyncDisposable {
  readonly themes: Themes;
  readonly languages: Languages;
  /** Another theme, or the same with other colours. */
  readonly themeChanged = new Emitter<Theme>();
  readonly scrollbackChanged = new Emitter<number>();
  /** One of the settings files was written, or edited by hand. */
  readonly fileChanged = new Emitter<void>();
  readonly #options: SettingsOptions;
  readonly #theme: StateFile<typeof ThemeFile>;
  readonly #scrollback: StateFile<typeof ScrollbackFile>;
  readonly #compat: StateFile<typeof CompatFile>;
  readonly #lang: StateFile<typeof LangFile>;
  /** All that are watched: our own, and those of other parts. */
  #files: readonly WatchedFile[];
  #listening: readonly Disposable[] = [];
  #shown = '';
  #lines = 0;
  #watching: { close(): void } | undefined;
  #settling: Disposable | undefined;

  constructor(options: SettingsOptions) {
    this.#options = options;
    this.themes = new Themes(options);
    this.languages = new Languages(options.root);
    const file = <T extends z.ZodType>(name: string, schema: T): StateFile<T> =>
      new StateFile({ path: join(options.root, name), schema, clock: options.clock, warn: options.warn });
    this.#theme = file('theme.json', ThemeFile);
    this.#scrollback = file('scrollback.json', ScrollbackFile);
    this.#compat = file('compat.json', CompatFile);
    this.#lang = file('lang.json', LangFile);
    this.#files = [this.#theme, this.#scrollback, this.#compat, this.#lang];
  }

  /** Every settings file of this state root that is watched. */
  get files(): SettingsFile[] {
    return this.#files.map((one) => {
      const { path, lastChange } = one;
      const error = one === this.#theme ? this.problem('theme') : one.complaint;
      return {
        name: basename(path, '.json'),
        file: basename(path),
        ...(error !== undefined && { error }),
        ...(lastChange && { changedAt: lastChange.at }),
        byHand: lastChange?.byHand === true,
      };
    });
  }

  /** The theme in force. A name that means nothing is the standard theme. */
  get theme(): ListedTheme {
    return this.themes.find(this.#theme.get().theme) ?? fallback;
  }

  get scrollback(): number {
    return this.#scrollback.get().lines;
  }

  /** The value of TERM_PROGRAM in new sessions. */
  get termProgram(): string {
    return this.#compat.get().term_program;
  }

  get lang(): string {
    const { lang } = this.#lang.get();
    return this.languages.words(lang) ? lang : 'en';
  }

  /** What is wrong with a file, and where; undefined when nothing is. */
  problem(of: 'theme' | 'scrollback' | 'compat' | 'lang'): string | undefined {
    if (of === 'theme') return this.#theme.complaint ?? this.#themeProblem();
    if (of === 'scrollback') return this.#scrollback.complaint;
    return of === 'compat' ? this.#compat.complaint : this.#lang.complaint;
  }

  get problems(): string[] {
    return (['theme', 'scrollback', 'compat', 'lang'] as const).flatMap((of) => this.problem(of) ?? []);
  }

  setTheme(name: string): ListedTheme {
    const theme = this.themes.find(name);
    if (!theme) {
      const names = this.themes.list().map((one) => one.name);
      throw new FairleadError('not_found', `There is no theme ${JSON.stringify(quote(name))}.`, {
        hint: `Themes: ${names.join(', ')}. A file themes/<name>.json in the state folder adds one.`,
      });
    }
    this.#theme.set({ theme: theme.name, name: theme.title, color_scheme: theme.title });
    this.#tell();
    return theme;
  }

  setScrollback(lines: number): void {
    this.#scrollback.set({ lines });
    this.#tell();
  }

  setTermProgram(name: string): void {
    this.#compat.set({ term_program: name });
  }

  setLang(code: string): void {
    if (!this.languages.words(code)) {
      const known = this.languages.list().map((one) => one.code);
      throw new FairleadError('not_found', `There is no language ${JSON.stringify(quote(code))} here.`, {
        hint: `Languages: ${known.join(', ')}. A file lang/<code>.json in the state folder adds one.`,
      });
    }
    this.#lang.set({ lang: code });
  }

  /** From now on, hand edits are told of, too: of our files, and of these of other parts. */
  follow(others: readonly WatchedFile[] = []): void {
    this.#remember();
    this.#files = [...this.#files, ...others];
    this.#listening = this.#files.map(({ changed }) => changed.on(() => this.fileChanged.emit()));
    // An edit is a difference from what was read before.
    for (const file of this.#files) file.look();
    const names = new Set(this.#files.map(({ path }) => basename(path)));
    const changed = (): void => {
      this.#settling ??= this.#options.clock.after(settleMs, () => {
        this.#settling = undefined;
        this.look();
      });
    };
    try {
      const watching = watch(this.#options.root, { persistent: false }, (_event, name) => {
        if (name === null || name === 'themes' || names.has(name)) changed();
      });
      watching.on('error', () => watching.close());
      this.#watching = watching;
    } catch (thrown) {
      const why = (thrown as NodeJS.ErrnoException).code ?? 'unknown';
      this.#options.warn(
        `Hand edits of settings show at the next look only: the state folder cannot be watched (${why}).`,
      );
    }
  }

  /** Reads the files again and tells of what is new. */
  look(): void {
    for (const file of [...this.#files, this.themes]) file.look();
    this.#tell();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watching?.close();
    this.#settling?.[Symbol.dispose]();
    for (const one of this.#listening) one[Symbol.dispose]();
  }

  #tell(): void {
    const [shown, lines] = [this.#shown, this.#lines];
    this.#remember();
    if (shown !== this.#shown) this.themeChanged.emit(this.theme);
    if (lines !== this.#lines) this.scrollbackChanged.emit(this.#lines);
  }

  #remember(): void {
    this.#shown = JSON.stringify(this.theme);
    this.#lines = this.scrollback;
  }

  #themeProblem(): string | undefined {
    const { theme } = this.#theme.get();
    const found = this.themes.find(theme);
    if (found) return found.error;
    return `${this.#theme.path} names the theme ${JSON.stringify(theme)}, which does not exist; the standard theme is used`;
  }
}

export const personSettings = serviceKey<PersonSettings>('settings');
