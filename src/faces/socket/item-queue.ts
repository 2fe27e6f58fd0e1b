import type { Socket } from 'node:net';
import { deferred } from '../../lib/deferred.ts';

/** Items that wait for their reader. From here on the socket is not read, so that the other process stops sending. */
const most = 64;

/** The items of one stream, between the socket they come from and the one reader they are for. */
export class ItemQueue implements AsyncIterable<unknown> {
  readonly #socket: Pick<Socket, 'pause' | 'resume'>;
  readonly #items: unknown[] = [];
  #wake = deferred();
  #over: { readonly error?: Error } | undefined;

  constructor(socket: Pick<Socket, 'pause' | 'resume'>) {
    this.#socket = socket;
  }

  push(item: unknown): void {
    if (this.#over) return;
    this.#items.push(item);
    if (this.#items.length >= most) this.#socket.pause();
    this.#wake.resolve();
  }

  /** No more comes. Only the first end counts. */
  readonly end = (): void => this.#finish({});

  /** The reader gets what is there, and then this. */
  readonly fail = (error: Error): void => this.#finish({ error });

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void, void> {
    for (;;) {
      while (this.#items.length > 0) {
        const item = this.#items.shift();
        if (this.#items.length < most) this.#socket.resume();
        yield item;
      }
      if (this.#over?.error) throw this.#over.error;
      if (this.#over) return;
      await this.#wake.promise;
      this.#wake = deferred();
    }
  }

  #finish(over: { readonly error?: Error }): void {
    this.#over ??= over;
    this.#socket.resume();
    this.#wake.resolve();
  }
}
