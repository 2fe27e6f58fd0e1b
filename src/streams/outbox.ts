import { onAbort } from '../system/on-abort.ts';

/** What a client is to be told of: a change, or only that the connection lives. */
export interface Outgoing {
  readonly name: string;
  readonly isKeepalive: boolean;
}

/**
 * What a client is to be told, at most one note for each name. The client's connection pulls: notes leave one at a time, in turns, so a
 * slow client costs a set of names, and of two that change all the time neither is told of twice running.
 */
export class Outbox {
  /** Whether each is only a sign of life; the one that was told of longest ago first. */
  readonly #waiting = new Map<string, boolean>();
  readonly #readers = new Set<() => void>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Adds a name behind those that wait already. One that waits keeps its place; a change counts for more than a sign of life. */
  add(name: string, isKeepalive = false): void {
    this.#waiting.set(name, isKeepalive && (this.#waiting.get(name) ?? true));
    for (const wake of this.#readers) wake();
  }

  delete(name: string): void {
    this.#waiting.delete(name);
  }

  /** Each when its turn comes, until the signal is aborted. */
  async *notes(signal: AbortSignal): AsyncGenerator<Outgoing, void, void> {
    while (!signal.aborted) {
      const [next] = this.#waiting;
      if (next === undefined) await this.#more(signal);
      else {
        const [name, isKeepalive] = next;
        this.#waiting.delete(name);
        yield { name, isKeepalive };
      }
    }
  }

  async #more(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#readers.delete(wake);
        aborted[Symbol.dispose]();
        resolve();
      };
      this.#readers.add(wake);
      const aborted = onAbort(signal, wake);
    });
  }
}
