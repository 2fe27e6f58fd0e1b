import type { Conversation } from '../server/conversation.ts';

/** How often it is looked after whether the process still lives. */
const lookMs = 10;

/**
 * A client whose connection broke while it had terminals. Its process may not know yet and read on: what both of us read then,
 * nobody could put in order. So its terminals rest until it says hello again, for it has stopped reading by then, or is dead.
 */
export class OrphanedLeases implements Disposable {
  readonly talk: Conversation;
  readonly #watch: NodeJS.Timeout;

  constructor(talk: Conversation, onDead: () => void) {
    this.talk = talk;
    this.#watch = setInterval(() => {
      if (!talk.mayRead) onDead();
    }, lookMs);
  }

  /** The keeper reads on. */
  [Symbol.dispose](): void {
    clearInterval(this.#watch);
    this.talk[Symbol.dispose]();
  }
}
