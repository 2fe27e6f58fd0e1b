import type { Readable } from 'node:stream';
import { deferred } from '../../lib/deferred.ts';

/** Whether the other side has closed its end, although bytes it sent before are still unread. Never rejects. */
export type HungUp = () => boolean | Promise<boolean>;

const pollMs = 100;
const endings = ['end', 'close', 'error'] as const;

/** Input that can be held back. A stream that is not read does not report its end, so while it is held the end is polled for. */
export class HeldInput {
  readonly #input: Readable;
  readonly #hungUp: HungUp | undefined;
  readonly #ended = deferred();
  #take: ((chunk: Buffer) => void) | undefined;
  #poll: NodeJS.Timeout | undefined;

  constructor(input: Readable, hungUp: HungUp | undefined) {
    this.#input = input;
    this.#hungUp = hungUp;
  }

  /** Settles when nothing more will be read. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  start(take: (chunk: Buffer) => void): void {
    this.#take = take;
    this.#input.on('data', take);
    for (const ending of endings) this.#input.on(ending, this.#end);
    if (this.#input.readableEnded || this.#input.destroyed) this.#end();
  }

  hold(): void {
    this.#input.pause();
    if (this.#take && this.#hungUp) this.#poll ??= setInterval(() => void this.#look(), pollMs).unref();
  }

  release(): void {
    this.#stopPolling();
    if (this.#take) this.#input.resume();
  }

  /** Reads no more, for good. */
  stop(): void {
    if (this.#take) this.#input.off('data', this.#take);
    this.#take = undefined;
    this.#input.pause();
    this.#stopPolling();
    this.#end();
  }

  readonly #end = (): void => this.#ended.resolve();

  async #look(): Promise<void> {
    if (await this.#hungUp?.()) this.#end();
  }

  #stopPolling(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }
}
