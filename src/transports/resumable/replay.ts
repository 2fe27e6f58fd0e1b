import { OutputLog } from '../../engine/terminal/output-log.ts';
import { deferred } from '../../lib/deferred.ts';

/** Output from before this process had the terminal, in a log of its own. */
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

  /** Settles when the replay is over. */
  get log(): Promise<OutputLog> {
    return this.#done.promise;
  }

  /** Offset of the next byte. */
  get at(): number {
    return this.#at;
  }

  get isOver(): boolean {
    return this.#at >= this.#to;
  }

  /** Logs those of the bytes that lie before the end of the replay. */
  take(bytes: Uint8Array, offset: number): void {
    // The far side has dropped more since it announced its oldest byte.
    if (offset > this.#at) {
      this.#log = new OutputLog({ capacity: this.#log.capacity, start: offset });
      this.#at = offset;
    }
    const used = Math.max(0, Math.min(bytes.length, this.#to - offset));
    this.#log.append(bytes.subarray(this.#at - offset, used));
    this.#at = Math.max(this.#at, offset + used);
    if (this.isOver) this.finish();
  }

  /** No more will come. */
  finish(): void {
    this.#done.resolve(this.#log);
  }
}
