import type { FairleadError } from '../../../contract/errors.ts';
import { inputAfterEnd, inputNotRead } from '../../input-errors.ts';

/** Per turn of the event loop; more would be felt by the other terminals. */
const TURN = 64 * 1024;
/** Above this a writer that does not wait for its promises is told so. */
const LIMIT = 16 * 1024 * 1024;
const SHORTEST_MS = 1;
const LONGEST_MS = 50;

interface Entry {
  readonly bytes: Uint8Array;
  offset: number;
  readonly accepted: () => void;
  readonly refused: (error: FairleadError) => void;
}

/**
 * Bytes on their way to a program that may not be reading. A pseudo-terminal gives no event when there is room again,
 * so a refused write is tried again after a pause that grows while nothing moves: a stuck child costs next to nothing.
 */
export class WriteQueue {
  /** Answers how many bytes were accepted; zero or less means none now. */
  readonly #tryWrite: (bytes: Uint8Array) => number;
  readonly #entries: Entry[] = [];
  #pending = 0;
  #pauseMs = SHORTEST_MS;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(tryWrite: (bytes: Uint8Array) => number) {
    this.#tryWrite = tryWrite;
  }

  /** Resolves when all bytes are accepted. They must stay as they are until then. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#ended) return Promise.reject(inputAfterEnd());
    if (bytes.length === 0) return Promise.resolve();
    if (this.#pending > 0 && this.#pending + bytes.length > LIMIT) {
      return Promise.reject(inputNotRead());
    }
    return new Promise((accepted, refused) => {
      this.#entries.push({ bytes, offset: 0, accepted, refused });
      this.#pending += bytes.length;
      if (this.#timer === undefined) this.#turn();
    });
  }

  /** Closes the queue and rejects pending writes. Returns the pending bytes for a successor. */
  end(): Uint8Array[] {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pending = 0;
    const waiting = this.#entries.splice(0);
    for (const entry of waiting) entry.refused(inputAfterEnd());
    return waiting.map(({ bytes, offset }) => bytes.subarray(offset));
  }

  readonly #turn = (): void => {
    this.#timer = undefined;
    let left = TURN;
    for (let entry = this.#entries[0]; entry !== undefined; entry = this.#entries[0]) {
      if (left <= 0) return this.#again(SHORTEST_MS);
      const accepted = this.#tryWrite(entry.bytes.subarray(entry.offset, entry.offset + left));
      if (accepted <= 0) {
        this.#again(this.#pauseMs);
        this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_MS);
        return;
      }
      this.#pauseMs = SHORTEST_MS;
      this.#pending -= accepted;
      entry.offset += accepted;
      left -= accepted;
      if (entry.offset < entry.bytes.length) continue;
      this.#entries.shift();
      entry.accepted();
    }
  };

  #again(ms: number): void {
    // The channel's reader keeps the process alive, not a retry.
    this.#timer = setTimeout(this.#turn, ms).unref();
  }
}
