/** R-TERM-022 */
export const maxLineBytes = 16 << 20;

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
    const lines: string[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      if (!this.#keep(chunk.subarray(from, at))) return undefined;
      lines.push(Buffer.concat(this.#parts).toString());
      this.#parts = [];
      this.#bytes = 0;
      from = at + 1;
    }
    return this.#keep(chunk.subarray(from)) ? lines : undefined;
  }

  #keep(part: Buffer): boolean {
    this.#bytes += part.length;
    if (this.#bytes > maxLineBytes) return false;
    if (part.length > 0) this.#parts.push(part);
    return true;
  }
}
