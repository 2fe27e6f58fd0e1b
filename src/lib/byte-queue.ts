/**
 * Bytes on their way from a producer that pushes to the one consumer that pulls.
 *
 * The bound is advice with teeth: a push over it is still taken, so no byte is ever lost, but `push` answers false and
 * the producer must stop until `onDrain`. A consumer that leaves early turns the queue into a sink, so that a producer
 * never waits for somebody who is gone.
 */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  readonly #highWater: number;
  readonly #onDrain: () => void;
  readonly #onRelease: (bytes: Uint8Array) => void;
  readonly #chunks: Uint8Array[] = [];
  readonly #waiting: ((result: IteratorResult<Uint8Array>) => void)[] = [];
  /** What the consumer holds until it asks for more. */
  #lent: Uint8Array | undefined;
  #head = 0;
  #size = 0;
  #full = false;
  #ended = false;
  #abandoned = false;
  #taken = false;

  /** `onRelease` gets each chunk back when the consumer is done with it, for a producer that wants to use it again. */
  constructor(highWater: number, onDrain: () => void = () => {}, onRelease: (bytes: Uint8Array) => void = () => {}) {
    this.#highWater = highWater;
    this.#onDrain = onDrain;
    this.#onRelease = onRelease;
  }

  /** Bytes pushed and not yet handed to the consumer. */
  get size(): number {
    return this.#size;
  }

  /** True after `push` answered false and before `onDrain` was called. */
  get full(): boolean {
    return this.#full;
  }

  /** Takes the bytes; false means: no more until `onDrain`. The memory belongs to the queue until it is released. */
  push(bytes: Uint8Array): boolean {
    if (this.#ended || this.#abandoned || bytes.length === 0) return !this.#full;
    const reader = this.#waiting.shift();
    if (reader !== undefined) {
      this.#lent = bytes;
      reader({ done: false, value: bytes });
      return true;
    }
    this.#chunks.push(bytes);
    this.#size += bytes.length;
    if (this.#size >= this.#highWater) this.#full = true;
    return !this.#full;
  }

  /** The last byte was pushed. The consumer finishes once it has read what is left. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const reader of this.#waiting.splice(0)) reader({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    if (this.#taken) throw new Error('A byte queue has one reader, and it already has one.');
    this.#taken = true;
    return {
      next: () => this.#next(),
      return: () => {
        this.#abandon();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    this.#release();
    const chunk = this.#chunks[this.#head];
    if (chunk !== undefined) {
      this.#head += 1;
      this.#size -= chunk.length;
      if (this.#head === this.#chunks.length) {
        this.#chunks.length = 0;
        this.#head = 0;
      }
      this.#lent = chunk;
      // Half, so that a reader just keeping up does not switch the producer off and on for every chunk.
      if (this.#size <= this.#highWater / 2) this.#drained();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#ended || this.#abandoned) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    const chunk = this.#lent;
    this.#lent = undefined;
    if (chunk !== undefined) this.#onRelease(chunk);
  }

  #abandon(): void {
    this.#abandoned = true;
    this.#release();
    this.#chunks.length = 0;
    this.#head = 0;
    this.#size = 0;
    for (const reader of this.#waiting.splice(0)) reader({ done: true, value: undefined });
    this.#drained();
  }

  #drained(): void {
    if (!this.#full) return;
    this.#full = false;
    this.#onDrain();
  }
}
