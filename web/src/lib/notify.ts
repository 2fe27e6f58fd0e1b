/** What a page does about notifications, without a browser: who is told of what, once. */

export interface Notice {
  /** One notification for each. */
  readonly tag: string;
  readonly title: string;
  readonly text: string;
  /** Where a click leads. */
  readonly path: string;
}

/** How long it is news that everything was resumed. */
const resumedMs = 60_000;

/** Everything is paused, or resumed, by someone else: a person who does not look should know. */
export class PauseNews {
  /** Since when this page knows of the pause. */
  #pausedAt: number | undefined;
  #resumedAt: number | undefined;

  /** What is news now. `resumedHereAt`: when this page resumed everything itself. */
  look(
    pause: { readonly by: string; readonly at: number; readonly isMine: boolean } | undefined,
    now: number,
    resumedHereAt: number,
  ): Notice[] {
    if (pause) this.#resumedAt = undefined;
    else if (this.#pausedAt !== undefined && this.#pausedAt > resumedHereAt) this.#resumedAt = now;
    this.#pausedAt = pause && (this.#pausedAt ?? now);
    const path = '/agents';
    if (pause)
      return pause.isMine ? [] : [{ tag: `pause ${pause.at}`, title: `${pause.by} paused everything`, text: '', path }];
    if (this.#resumedAt === undefined || now - this.#resumedAt > resumedMs) return [];
    return [{ tag: `resumed ${this.#resumedAt}`, title: 'Everything was resumed', text: '', path }];
  }
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
