import { markerPrefix } from '../../shells/command-text.ts';

export type FoundSentinel =
  /** `at` is the first byte after the marker. */
  | { readonly kind: 'start'; readonly at: number }
  /** `at` is the first byte of the marker. */
  | { readonly kind: 'end'; readonly at: number; readonly status: number };

const bell = 7;
/** Longer than any marker. */
const longest = 96;

/** Finds the markers of one command in its raw output, however that is cut. */
export class SentinelScanner {
  readonly #prefix: Buffer;
  #carry: Buffer = Buffer.alloc(0);

  constructor(token: string) {
    this.#prefix = Buffer.from(markerPrefix(token));
  }

  scan(chunk: Uint8Array, from: number): readonly FoundSentinel[] {
    const fresh = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const bytes = this.#carry.length === 0 ? fresh : Buffer.concat([this.#carry, fresh]);
    const base = from - this.#carry.length;
    const found: FoundSentinel[] = [];
    let keep = Math.max(0, bytes.length - this.#prefix.length + 1);
    for (let at = bytes.indexOf(this.#prefix); at !== -1; at = bytes.indexOf(this.#prefix, at + 1)) {
      const end = bytes.indexOf(bell, at);
      if (end === -1) {
        if (bytes.length - at < longest) keep = Math.min(keep, at);
        break;
      }
      const word = bytes.toString('latin1', at + this.#prefix.length, end);
      const status = /^e;(-?\d{1,10})$/.exec(word)?.[1];
      if (word === 's') found.push({ kind: 'start', at: base + end + 1 });
      else if (status !== undefined) found.push({ kind: 'end', at: base + at, status: Number(status) });
      keep = Math.max(keep, end + 1);
    }
    this.#carry = Buffer.from(bytes.subarray(Math.min(keep, bytes.length)));
    return found;
  }
}
