import { Redactor } from './redactor.ts';

interface CurrentRedactorOptions {
  /** Asked for once, when something is first masked. */
  readonly key: () => Uint8Array;
  /** The person's own patterns as they are now. */
  readonly patterns: () => readonly string[];
  /** Values that are known from the start. */
  readonly known?: () => readonly string[];
}

/** The one redactor of an instance, made when something is first masked. */
export class CurrentRedactor {
  readonly #options: CurrentRedactorOptions;
  #redactor: Redactor | undefined;

  constructor(options: CurrentRedactorOptions) {
    this.#options = options;
  }

  get(): Redactor {
    const { key, patterns, known = () => [] } = this.#options;
    this.#redactor ??= new Redactor({ key: key(), known: known(), custom: patterns });
    return this.#redactor;
  }
}
