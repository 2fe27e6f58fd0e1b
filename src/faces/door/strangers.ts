/** A socket. */
interface Droppable {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Connections that have not shown the token. Their number is bounded: one more drops the oldest, so that strangers who hold
 * connections open cannot lock out the owner of the token, who shows it at once.
 */
export class Strangers {
  readonly #most: number;
  /** Oldest first. */
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

  /** The connection has shown the token and stays. */
  recognise(connection: Droppable): void {
    this.#waiting.delete(connection);
  }
}
