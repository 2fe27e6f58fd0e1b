import type { Writable } from 'node:stream';

/** About what a pipe holds. */
const pieceBytes = 64 << 10;

interface Waiting {
  readonly bytes: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Writes to a stream in pieces, each when the one before it was taken. A stream reports only that a whole write was taken; pieces
 * show whether a slow reader still reads.
 */
export class PieceWriter {
  readonly #output: Writable;
  readonly #onTaken: (bytes: number) => void;
  readonly #waiting: Waiting[] = [];
  #at = 0;
  #isWriting = false;

  constructor(output: Writable, onTaken: (bytes: number) => void) {
    this.#output = output;
    this.#onTaken = onTaken;
  }

  /** Resolves when all of it was taken. */
  write(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, resolve, reject });
      if (!this.#isWriting) this.#next();
    });
  }

  #next(): void {
    const first = this.#waiting[0];
    this.#isWriting = first !== undefined;
    if (!first) return;
    const piece = first.bytes.subarray(this.#at, this.#at + pieceBytes);
    this.#output.write(piece, (error) => {
      if (error) return this.#fail(error);
      this.#at += piece.length;
      if (this.#at === first.bytes.length) {
        this.#at = 0;
        this.#waiting.shift();
        first.resolve();
      }
      this.#onTaken(piece.length);
      this.#next();
    });
  }

  #fail(error: Error): void {
    this.#isWriting = false;
    this.#at = 0;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
