import { wipeableOf } from '../../system/wipeable.ts';

/** R-TERM-022 */
const maxSocketLineBytes = 16 << 20;

const newline = 10;

/** Cuts a stream of bytes into lines. */
export class LineSplitter {
  #parts: Buffer[] = [];
  #bytes = 0;

  /** Bytes of the line that is not complete yet. */
  get pending(): number {
    return this.#bytes;
  }

  /** The lines that are complete now; undefined when one is too long, after which nothing more can be understood. */
  push(chunk: Buffer): string[] | undefined {
    return this.pushBytes(chunk)?.map((line) => line.toString());
  }

  /** The same as bytes: those of the chunk itself, where a line stands in one chunk, so that filling a line leaves no copy of it. */
  pushBytes(chunk: Buffer): Buffer[] | undefined {
    const lines: Buffer[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      if (!this.#keep(chunk.subarray(from, at))) return undefined;
      lines.push(this.#whole());
      this.#bytes = 0;
      from = at + 1;
    }
    return this.#keep(chunk.subarray(from)) ? lines : undefined;
  }

  #whole(): Buffer {
    const parts = this.#parts;
    this.#parts = [];
    const [first = Buffer.alloc(0), ...others] = parts;
    if (others.length === 0) return first;
    return wipeableOf(parts);
  }

  #keep(part: Buffer): boolean {
    this.#bytes += part.length;
    if (this.#bytes > maxSocketLineBytes) return false;
    if (part.length > 0) this.#parts.push(part);
    return true;
  }
}
