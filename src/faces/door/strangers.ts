/** What can be dropped: a socket. */
interface Droppable {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Connections that have not shown who they are. At most so many at a time: one more drops the one that has waited longest, so
 * that strangers who sit on their connections cannot lock out the owner of the token, who shows it at once.
 */
export class Strangers {
  readonly #most: number;
  /** In the order in which they came. */
  readonly #waiting = new Set<Droppable>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#waiting.size;
  }

  add(connection: Droppable): void {
    this.#waiting.add(connection);
    connection.once('close', () => this.#waiting.delete(connection));
    const [oldest] = this.#waiting;
    if (this.#waiting.size <= this.#most || oldest === undefined) return;
    this.#waiting.delete(oldest);
    oldest.destroy();
  }

  /** It has shown the token: from now on it stays. */
  recognise(connection: Droppable): void {
    this.#waiting.delete(connection);
  }
}
