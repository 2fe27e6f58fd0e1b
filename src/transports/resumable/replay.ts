import { OutputLog } from '../../engine/terminal/output-log.ts';
import { deferred } from '../../lib/deferred.ts';

/** Output from before this process had the terminal, put into a log of its own; what comes after is the channel's. */
export class Replay {
  readonly #done = deferred<OutputLog>();
  readonly #to: number;
  #log: OutputLog;
  #at: number;

  constructor(from: number, to: number, capacity = 1) {
    this.#to = to;
    this.#at = from;
    this.#log = new OutputLog({ capacity, start: from });
    if (from >= to) this.finish();
  }

  get log(): Promise<OutputLog> {
    return this.#done.promise;
  }

  /** Offset of the next byte that belongs here; nothing more does when it is where the replay ends. */
  get at(): number {
    return this.#at;
  }

  get isOver(): boolean {
    return this.#at >= this.#to;
  }

  /** How many of the bytes belong here. */
  take(bytes: Uint8Array, offset: number): number {
    // The ring has dropped more since we were told its start.
    if (offset > this.#at) {
      this.#log = new OutputLog({ capacity: this.#log.capacity, start: offset });
      this.#at = offset;
    }
    const used = Math.max(0, Math.min(bytes.length, this.#to - offset));
    this.#log.append(bytes.subarray(this.#at - offset, used));
    this.#at = Math.max(this.#at, offset + used);
    if (this.isOver) this.finish();
    return used;
  }

  /** There is no more: what came is all. */
  finish(): void {
    this.#done.resolve(this.#log);
  }
}
