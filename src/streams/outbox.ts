import { onAbort } from '../system/on-abort.ts';

/**
 * What a client is to be told, at most one note for each name. The client's connection pulls: notes leave one at a time, in turns, so a
 * slow client costs a set of names, and of two that change all the time neither is told of twice running.
 */
export class Outbox {
  /** The one that was told of longest ago first. */
  readonly #names = new Set<string>();
  #wake: (() => void) | undefined;

  get size(): number {
    return this.#names.size;
  }

  /** Adds a name, behind those that wait already. */
  add(name: string): void {
    this.#names.add(name);
    this.#wake?.();
  }

  delete(name: string): void {
    this.#names.delete(name);
  }

  /** The names, each when its turn comes, until the signal is aborted. For one reader at a time. */
  async *names(signal: AbortSignal): AsyncGenerator<string, void, void> {
    using _end = onAbort(signal, () => this.#wake?.());
    while (!signal.aborted) {
      const [next] = this.#names;
      if (next !== undefined) {
        this.#names.delete(next);
        yield next;
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
