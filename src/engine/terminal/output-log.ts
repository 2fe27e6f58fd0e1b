import { Emitter } from '../../lib/emitter.ts';

export interface LogRead {
  /** Offset of the first byte returned. */
  readonly from: number;
  readonly bytes: Uint8Array;
  /** How many of the bytes asked for had already been dropped. */
  readonly missed: number;
}

interface OutputLogOptions {
  /** How many bytes are kept at most. */
  readonly capacity?: number;
  /** Offset of the first byte: not 0 when the log continues one kept elsewhere. */
  readonly start?: number;
}

/** One for all: memory of its own, even of no size, costs more than the rest of an empty log. */
const nothing = new Uint8Array(0);
export const usualCapacity = 4 << 20;
// Sizes grow in few large steps: memory that was never written to is not there yet, while copying to the next size costs
// time, and twenty floods that begin together would all pay it in the same turn of the loop.
const smallest = 16 << 10;
const growth = 16;

/** The last bytes a terminal wrote. Every byte keeps its offset for life, also after older ones were dropped. */
export class OutputLog {
  #capacity: number;
  /** The new end, after each append. */
  readonly onAppend = new Emitter<number>();
  /** Emitted before bytes below this offset are dropped, for listeners that still need them. */
  readonly onDrop = new Emitter<number>();
  // A ring: the byte at offset `o` lies at `o % ring.length`. Starts small, so that an idle terminal is cheap.
  #ring: Uint8Array = nothing;
  #start: number;
  #end: number;
  #appends = 0;

  constructor({ capacity = usualCapacity, start = 0 }: OutputLogOptions = {}) {
    this.#capacity = capacity;
    this.#start = start;
    this.#end = start;
  }

  /** How many bytes are kept at most. */
  get capacity(): number {
    return this.#capacity;
  }

  /** Keeps more from now on. Bytes that were dropped stay dropped; a smaller capacity changes nothing. */
  widen(capacity: number): void {
    this.#capacity = Math.max(this.#capacity, capacity);
  }

  /** Offset of the oldest byte kept. */
  get start(): number {
    return this.#start;
  }

  /** Offset the next byte will get. */
  get end(): number {
    return this.#end;
  }

  /** How many chunks came so far. */
  get appends(): number {
    return this.#appends;
  }

  /** Bytes of memory held. */
  get allocated(): number {
    return this.#ring.length;
  }

  /** Copies the bytes in; the caller may reuse its memory at once. */
  append(bytes: Uint8Array): void {
    // In halves of the capacity, so that who listens to `onDrop` never has to take more than it was shown.
    const most = Math.max(1, this.capacity >> 1);
    this.#appends += 1;
    for (let at = 0; at < bytes.length; at += most) this.#put(bytes.subarray(at, at + most));
  }

  #put(bytes: Uint8Array): void {
    this.#grow(this.#end - this.#start + bytes.length);
    const lowest = this.#end + bytes.length - this.#ring.length;
    if (lowest > this.#start) {
      this.onDrop.emit(lowest);
      this.#start = lowest;
    }
    this.#copyIn(this.#ring, this.#end, bytes);
    this.#end += bytes.length;
    this.onAppend.emit(this.#end);
  }

  /** A copy of the bytes from `from` up to `to`, at most `max`, and how many of them are gone. */
  read(from: number, to: number = this.#end, max: number = Number.POSITIVE_INFINITY): LogRead {
    const first = Math.min(Math.max(from, this.#start), this.#end);
    const last = Math.max(first, Math.min(to, this.#end, first + max));
    const missed = Math.max(0, Math.min(first, to) - from);
    const bytes = new Uint8Array(last - first);
    let at = 0;
    for (const view of this.views(first, last)) {
      bytes.set(view, at);
      at += view.length;
    }
    return { from: first, bytes, missed };
  }

  /** The kept bytes from `from` up to `to` without copying: at most two pieces, valid until the next append. */
  views(from: number, to: number = this.#end): Uint8Array[] {
    const first = Math.max(from, this.#start);
    const last = Math.min(to, this.#end);
    if (first >= last) return [];
    const size = this.#ring.length;
    const low = first % size;
    const high = low + (last - first);
    if (high <= size) return [this.#ring.subarray(low, high)];
    return [this.#ring.subarray(low), this.#ring.subarray(0, high - size)];
  }

  /** Gives back the memory that holds nothing, when no more is expected. Appending still works. */
  shrink(): void {
    const size = this.#end - this.#start;
    if (size === this.#ring.length) return;
    const ring = size === 0 ? nothing : new Uint8Array(size);
    if (size > 0) this.#copyIn(ring, this.#start, this.read(this.#start).bytes);
    this.#ring = ring;
  }

  #grow(needed: number): void {
    if (needed <= this.#ring.length || this.#ring.length === this.capacity) return;
    let size = Math.max(smallest, this.#ring.length);
    while (size < needed && size < this.capacity) size *= growth;
    const ring = new Uint8Array(Math.min(size, this.capacity));
    let at = this.#start;
    for (const view of this.views(this.#start)) {
      this.#copyIn(ring, at, view);
      at += view.length;
    }
    this.#ring = ring;
  }

  #copyIn(ring: Uint8Array, offset: number, bytes: Uint8Array): void {
    const at = offset % ring.length;
    const room = ring.length - at;
    if (bytes.length <= room) {
      ring.set(bytes, at);
      return;
    }
    ring.set(bytes.subarray(0, room), at);
    ring.set(bytes.subarray(room), 0);
  }
}
