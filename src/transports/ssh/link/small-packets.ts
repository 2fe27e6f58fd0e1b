/** Smaller than this, what a packet costs in memory is more than what is in it. */
const small = 1024;
const slabBytes = 8 << 10;

/**
 * Joins small packets while they wait for a reader: two million packets of one byte fit into the window of a channel,
 * and each would be an object of hundreds.
 */
export class SmallPackets<Name extends string> {
  readonly #deliver: (name: Name, bytes: Uint8Array) => void;
  #name: Name | undefined;
  #slab = Buffer.alloc(0);
  #used = 0;

  constructor(deliver: (name: Name, bytes: Uint8Array) => void) {
    this.#deliver = deliver;
  }

  /** Bytes held back. */
  get size(): number {
    return this.#used;
  }

  /** `waiting`: earlier bytes of this stream are unread, so these may wait too. */
  push(name: Name, bytes: Uint8Array, waiting: boolean): void {
    const fits = bytes.length < small && waiting;
    // The order of the streams is kept.
    if (this.#name !== name || !fits || this.#used + bytes.length > this.#slab.length) this.flush();
    if (!fits) return this.#deliver(name, bytes);
    if (this.#used === 0) this.#slab = Buffer.allocUnsafeSlow(slabBytes);
    this.#name = name;
    this.#slab.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  /** Hands over what was held back. */
  flush(): void {
    if (this.#used === 0 || this.#name === undefined) return;
    const bytes = this.#slab.subarray(0, this.#used);
    this.#used = 0;
    this.#deliver(this.#name, bytes);
  }

  /** Of this stream everything else has been read. */
  wanted(name: Name): boolean {
    return this.#used > 0 && this.#name === name;
  }
}
