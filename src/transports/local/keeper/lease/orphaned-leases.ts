import type { Conversation } from '../server/conversation.ts';

/** How often to check whether the process still lives. */
const lookMs = 10;

/**
 * Leases of a client whose connection broke. Its process may not know yet and read on, and bytes that two processes read cannot
 * be put in order. So these terminals rest until the process says hello again, since it has stopped reading by then, or is dead.
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

  /** The keeper reclaims the terminals. */
  [Symbol.dispose](): void {
    clearInterval(this.#watch);
    this.talk[Symbol.dispose]();
  }
}
