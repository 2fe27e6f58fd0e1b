/** What a page does about notifications, without a browser: who is told of what, once. */

export interface Notice {
  /** One notification for each. */
  readonly tag: string;
  readonly title: string;
  readonly text: string;
  /** Where a click leads. */
  readonly path: string;
}

interface NotifierParts {
  readonly show: (notice: Notice) => () => void;
  /** Whether the person has looked at a page of ours within the last moments. */
  readonly isLooking: () => boolean;
  readonly after: (ms: number, run: () => void) => () => void;
}

/** A person who has not looked for so long is told. */
export const awayMs = 5000;

/** One notification for each thing, when the person is not looking; withdrawn when the thing is over. */
export class Notifier {
  readonly #parts: NotifierParts;
  /** What is open: shown, or waiting for the person to have been away long enough. */
  readonly #open = new Map<string, { withdraw: () => void }>();

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Everything that a person should know of now. What is not in it any more is withdrawn. */
  update(notices: readonly Notice[]): void {
    const tags = new Set(notices.map(({ tag }) => tag));
    for (const [tag, { withdraw }] of this.#open) {
      if (tags.has(tag)) continue;
      withdraw();
      this.#open.delete(tag);
    }
    for (const notice of notices) if (!this.#open.has(notice.tag)) this.#begin(notice);
  }

  #begin(notice: Notice): void {
    const one = { withdraw: () => {} };
    this.#open.set(notice.tag, one);
    const check = (): void => {
      // Looked meanwhile: it is known, and asked again only if the person leaves before deciding.
      one.withdraw = this.#parts.isLooking() ? this.#parts.after(awayMs, check) : this.#parts.show(notice);
    };
    one.withdraw = this.#parts.isLooking() ? this.#parts.after(awayMs, check) : this.#parts.show(notice);
  }
}
