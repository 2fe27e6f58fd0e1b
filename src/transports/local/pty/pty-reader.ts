import { closeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import type { ByteQueue } from '../../../lib/byte-queue.ts';
import { FIONREAD, type Libc } from './libc.ts';
import { readTurn } from './read-turn.ts';
import { type Landing, SHORT, SLAB, slabs } from './slabs.ts';

/** Unread output at which reading stops and the kernel makes the program wait. */
export const HIGH_WATER = 256 * 1024;
/** Read in one turn of the event loop at most; a flood on one terminal must not be felt on the others. */
const TURN = 64 * 1024;
/**
 * More than a pseudo-terminal can hold, which is some 12 KB: what was written before the call is read, a flood is not chased. Each
 * read of an empty terminal waits for the kernel, so chasing fifty floods would hold the event loop for seconds.
 */
const HELD = SLAB;
/** A program that has ended left no more than that; what its children print meanwhile is not chased either. */
const LEFT = 512 * 1024;

/** Waited for the kernel in one turn at most, or little longer: it may have others to serve. */
const PATIENCE_MS = 1;

/** A consumer quicker than this does little with a chunk, or only collects it. */
const EASY_MS = 0.01;
const FADE = 0.9;

/** An answer of the system, read at once. */
const ready = new Int32Array(1);

/** Whose output came last, of all terminals: the number of its descriptor. */
let newest = -1;

/** Where a reader puts its output. */
type ReaderOutput = Pick<ByteQueue, 'push' | 'full' | 'size'>;

/** Reads the master of a pseudo-terminal into a queue. It owns the second descriptor it is given, not the first. */
export class PtyReader {
  readonly #libc: Libc;
  readonly #master: number;
  readonly #output: ReaderOutput;
  readonly #landing: Landing;
  #stream: ReadStream | undefined;
  /** For the next stream, while there is none. */
  #spare = -1;
  #open = true;
  /** What was done with a chunk of late. Where that is nothing much, it is quickest to wait for the kernel until there is a slab. */
  #workMs = 0;

  constructor(libc: Libc, master: number, watched: number, output: ReaderOutput, landing: Landing = slabs) {
    this.#libc = libc;
    this.#master = master;
    this.#output = output;
    this.#landing = landing;
    this.#watch(watched);
  }

  /** The queue has room. */
  resume(): void {
    if (!this.#output.full) this.#stream?.resume();
  }

  /**
   * Reads nothing from here on, not even when asked to: a lessee reads. False when there is no descriptor left to go on
   * with later. A stream that is only paused may read once more: its last `resume` can still be on its way.
   */
  rest(): boolean {
    if (!this.#stream) return false;
    this.#spare = this.#libc.duplicate(this.#master);
    if (this.#spare < 0) return false;
    this.#stream.destroy();
    this.#stream = undefined;
    return true;
  }

  wake(): void {
    if (this.#spare < 0) return;
    this.#watch(this.#spare);
    this.#spare = -1;
  }

  /** Everything the program has written before this call, unless output is discarded. */
  flush(): void {
    if (this.#output.size < HIGH_WATER * 2) this.drain(HELD);
  }

  /** Whether the queue has room or not: what the kernel holds is little and must not wait. */
  drain(most = LEFT): void {
    for (let total = 0, length = SLAB; this.#reads && length === SLAB && total < most; total += length) {
      const chunk = this.#landing.fill(0, this.#read);
      length = chunk.length;
      this.#output.push(chunk);
    }
  }

  stop(): void {
    this.#open = false;
    if (newest === this.#master) newest = -1;
    this.#stream?.destroy();
    this.#stream = undefined;
    if (this.#spare >= 0) closeSync(this.#spare);
    this.#spare = -1;
  }

  /** The stream owns its descriptor, so that whenever Node decides to close it, ours stays good for the final drain. */
  #watch(fd: number): void {
    this.#stream = new ReadStream(fd, {
      onread: { buffer: this.#landing.first, callback: (length: number) => this.#take(length) },
    } as ConstructorParameters<typeof ReadStream>[1]);
    // The end of a pseudo-terminal reads as EIO. The child's exit is what counts.
    this.#stream.on('error', () => {});
    this.resume();
  }

  /** The consumer may stop the reader from within the call. */
  get #reads(): boolean {
    return this.#open && this.#spare < 0;
  }

  readonly #read = (into: Uint8Array): number => this.#libc.read(this.#master, into, into.length);

  /**
   * Only what lies there already. To read from a terminal that is empty at the moment makes the kernel finish what it is
   * about to bring, and this process sleeps meanwhile: in a flood, after every few KB that could be parsed instead, and with
   * twenty floods behind all of their programs.
   */
  readonly #readReady = (into: Uint8Array): number => {
    if (this.#libc.ioctl(this.#master, FIONREAD, ready) !== 0 || ready[0] === 0) return 0;
    return this.#libc.read(this.#master, into, into.length);
  };

  /** What lies in `first` and what follows it; false when reading has to stop. */
  #take(first: number): boolean {
    // With no other output to read, wait for the kernel.
    const patientTo = newest === this.#master ? performance.now() + PATIENCE_MS : 0;
    newest = this.#master;
    const until = readTurn.next();
    let already = first;
    for (let total = 0; total < TURN && this.#reads; already = 0) {
      const wait = performance.now() < patientTo ? this.#read : this.#readReady;
      const chunk = this.#landing.fill(already, this.#workMs < EASY_MS ? wait : this.#readReady, wait);
      total += chunk.length;
      const pushed = performance.now();
      if (!this.#output.push(chunk)) return false;
      this.#workMs = Math.max(performance.now() - pushed, this.#workMs * FADE);
      if (chunk.length <= SHORT || performance.now() >= until) break;
    }
    return this.#reads;
  }
}
