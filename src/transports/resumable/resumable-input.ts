import type { FairleadError } from '../../contract/errors.ts';
import { inputAfterEnd, inputNotRead } from '../input-errors.ts';

/** Sent and not yet accepted by the program's terminal, at most. */
const creditBytes = 128 << 10;
/** The largest frame, so that an interrupt does not wait long behind a paste. */
const pieceBytes = 16 << 10;
/** Queued at most: a writer that does not await its writes is refused beyond it. */
const limitBytes = 16 << 20;

interface Entry {
  readonly bytes: Uint8Array;
  /** Position of its first byte. */
  from: number;
  readonly accepted: () => void;
  readonly refused: (error: FairleadError) => void;
}

/** Input on its way to the far side. Each byte has a position, so a new connection repeats exactly what did not arrive. */
export class ResumableInput {
  readonly #send: (bytes: Uint8Array, from: number) => void;
  readonly #entries: Entry[] = [];
  /** Position of the first byte that this process typed. */
  #first: number;
  #accepted: number;
  #sent: number;
  #end: number;
  #closed = false;

  constructor(typedBefore: number, send: (bytes: Uint8Array, from: number) => void) {
    this.#send = send;
    this.#first = typedBefore;
    this.#accepted = typedBefore;
    this.#sent = typedBefore;
    this.#end = typedBefore;
  }

  /** Resolves when the terminal has accepted all of it. The bytes must stay as they are until then. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#closed) return Promise.reject(inputAfterEnd());
    if (bytes.length === 0) return Promise.resolve();
    const pending = this.#end - this.#accepted;
    if (pending > 0 && pending + bytes.length > limitBytes) {
      return Promise.reject(inputNotRead());
    }
    return new Promise((accepted, refused) => {
      this.#entries.push({ bytes, from: this.#end, accepted, refused });
      this.#end += bytes.length;
      this.#pump();
    });
  }

  /** Position of the next byte to be written. */
  get end(): number {
    return this.#end;
  }

  /** The terminal has accepted everything before this position. */
  get position(): number {
    return this.#accepted;
  }

  /** The terminal has accepted everything before this position. */
  accepted(position: number): void {
    this.#accepted = Math.max(this.#accepted, position);
    for (let entry = this.#entries[0]; entry; entry = this.#entries[0]) {
      if (entry.from + entry.bytes.length > this.#accepted) break;
      this.#entries.shift();
      entry.accepted();
    }
    this.#pump();
  }

  /** Repeats what the far side does not have: it has typed up to `position`, and holds what waits up to `queued`. */
  restart(position: number, queued = position): void {
    // A far side that was replaced may have lost input that waited before our first byte. It cannot be sent again: ours moves up.
    const lost = Math.max(0, this.#first - Math.max(position, queued));
    for (const entry of this.#entries) entry.from -= lost;
    this.#first -= lost;
    this.#accepted -= lost;
    this.#end -= lost;
    // More may have been accepted since the far side reported its position.
    this.#sent = Math.max(position, this.#accepted);
    this.accepted(position);
  }

  /** The program has ended: rejects every pending write. */
  close(): void {
    this.#closed = true;
    for (const entry of this.#entries.splice(0)) entry.refused(inputAfterEnd());
  }

  #pump(): void {
    for (const { bytes, from } of this.#entries) {
      while (this.#sent < from + bytes.length) {
        const room = Math.min(creditBytes - (this.#sent - this.#accepted), pieceBytes);
        if (room <= 0) return;
        const piece = bytes.subarray(this.#sent - from, this.#sent - from + room);
        const at = this.#sent;
        this.#sent += piece.length;
        this.#send(piece, at);
      }
    }
  }
}
