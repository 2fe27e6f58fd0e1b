import { Redactor } from './redactor.ts';

interface CurrentRedactorOptions {
  /** Asked for once, when something is first masked. */
  readonly key: () => Uint8Array;
  /** The person's own patterns as they are now. */
  readonly patterns: () => readonly string[];
}

/** The one redactor of an instance: another one as soon as the person's patterns change, with the same known values. */
export class CurrentRedactor {
  readonly #options: CurrentRedactorOptions;
  #redactor: Redactor | undefined;
  #patterns = '';
  #key: Uint8Array | undefined;

  constructor(options: CurrentRedactorOptions) {
    this.#options = options;
  }

  get(): Redactor {
    const patterns = this.#options.patterns();
    const seen = JSON.stringify(patterns);
    if (this.#redactor === undefined || seen !== this.#patterns) {
      this.#patterns = seen;
      const known = this.#redactor?.known ?? [];
      this.#redactor = new Redactor({ key: (this.#key ??= this.#options.key()), known, custom: patterns });
    }
    return this.#redactor;
  }
}
