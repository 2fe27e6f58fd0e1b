/** Takes one chunk. A promise asks the source to hold back the next one until it settles. */
type TakeBytes = (bytes: Uint8Array) => Promise<void> | undefined;

/** A stream of bytes for exactly one reader, which either iterates or consumes it. */
export interface ByteSource extends AsyncIterable<Uint8Array> {
  /** Bytes that are here and that the reader has not taken yet. */
  readonly size: number;
  /**
   * Hands each chunk to `take` as it arrives, in the same turn of the loop; its memory is valid until `take` returns. Resolves after
   * the last chunk and rejects with what `take` throws.
   */
  consume(take: TakeBytes): Promise<void>;
}

interface Sink {
  readonly take: TakeBytes;
  readonly resolve: () => void;
  readonly reject: (thrown: unknown) => void;
}

/**
 * Bytes on their way from a producer that pushes to the one consumer that pulls.
 *
 * The queue accepts a push over its bound, so no byte is lost, but `push` answers false and the producer must stop until
 * `onDrain`. A consumer that leaves early turns the queue into a sink, so that the producer never waits for it.
 */
export class ByteQueue implements ByteSource {
  readonly #highWater: number;
  readonly #onDrain: () => void;
  readonly #onRelease: (bytes: Uint8Array) => void;
  readonly #chunks: Uint8Array[] = [];
  readonly #waiting: ((result: IteratorResult<Uint8Array>) => void)[] = [];
  /** The chunk the iterating consumer holds until it asks for the next one. */
  #held: Uint8Array | undefined;
  #head = 0;
  #size = 0;
  #full = false;
  #ended = false;
  #abandoned = false;
  #taken = false;
  #sink: Sink | undefined;
  /** The sink is running, or asked to wait. */
  #busy = false;

  /** `onRelease` gets each chunk back when the consumer is done with it, for a producer that wants to use it again. */
  constructor(highWater: number, onDrain: () => void = () => {}, onRelease: (bytes: Uint8Array) => void = () => {}) {
    this.#highWater = highWater;
    this.#onDrain = onDrain;
    this.#onRelease = onRelease;
  }

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
    if (this.#sink && !this.#busy && this.#chunks.length === 0) {
      this.#deliver(this.#sink, bytes);
      // More may have come, or the end, from within the call.
      if (this.#size > 0 || this.#ended) this.#flow();
      return !this.#full;
    }
    const reader = this.#waiting.shift();
    if (reader !== undefined) {
      this.#held = bytes;
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
    this.#flow();
  }

  consume(take: TakeBytes): Promise<void> {
    this.#take();
    return new Promise((resolve, reject) => {
      this.#sink = { take, resolve, reject };
      this.#flow();
    });
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    this.#take();
    return {
      next: () => this.#next(),
      return: () => {
        this.#abandon();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  #take(): void {
    if (this.#taken) throw new Error('A byte queue has one reader, and it already has one.');
    this.#taken = true;
  }

  #shift(): Uint8Array | undefined {
    const chunk = this.#chunks[this.#head];
    if (chunk === undefined) return undefined;
    this.#head += 1;
    this.#size -= chunk.length;
    if (this.#head === this.#chunks.length) {
      this.#chunks.length = 0;
      this.#head = 0;
    }
    return chunk;
  }

  /** Hands on what is queued, as long as the sink takes it. */
  #flow(): void {
    const sink = this.#sink;
    if (!sink || this.#busy) return;
    for (let chunk = this.#shift(); chunk !== undefined; chunk = this.#busy ? undefined : this.#shift()) {
      this.#deliver(sink, chunk);
    }
    if (this.#size <= this.#highWater / 2) this.#drained();
    if (this.#ended && !this.#busy && this.#size === 0) sink.resolve();
  }

  #deliver(sink: Sink, chunk: Uint8Array): void {
    this.#busy = true;
    try {
      const wait = sink.take(chunk);
      if (wait)
        wait.then(
          () => this.#again(),
          (thrown: unknown) => this.#fail(sink, thrown),
        );
      else this.#busy = false;
    } catch (thrown) {
      this.#fail(sink, thrown);
    }
    this.#onRelease(chunk);
  }

  #again(): void {
    this.#busy = false;
    this.#flow();
  }

  #fail(sink: Sink, thrown: unknown): void {
    this.#sink = undefined;
    this.#abandon();
    sink.reject(thrown);
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    this.#release();
    const chunk = this.#shift();
    if (chunk !== undefined) {
      this.#held = chunk;
      // Half, so that a reader just keeping up does not switch the producer off and on for every chunk.
      if (this.#size <= this.#highWater / 2) this.#drained();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#ended || this.#abandoned) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    const chunk = this.#held;
    this.#held = undefined;
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
