import { endBytes, type Ends } from './oversized-id.ts';

export const maxLineBytes = 16 << 20;
const newline = 0x0a;

/** Cuts a stream of bytes into lines. Of a line that is too long only its two ends are kept. */
export class MessageLines {
  #parts: Buffer[] = [];
  #head: Buffer | undefined;
  #bytes = 0;

  *push(chunk: Buffer): Generator<string | Ends> {
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.#keep(chunk.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(this.#parts);
      const head = this.#head;
      this.#parts = [];
      this.#head = undefined;
      this.#bytes = 0;
      yield head ? { head, tail: line } : line.toString('utf8');
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (part.length > 0) this.#parts.push(part);
    if (this.#bytes <= maxLineBytes) return;
    const line = Buffer.concat(this.#parts);
    this.#head ??= Buffer.from(line.subarray(0, endBytes));
    this.#parts = [Buffer.from(line.subarray(-endBytes))];
  }
}
