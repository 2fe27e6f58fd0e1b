import type { OutputLog } from '../terminal/output-log.ts';

export interface BytesMatch {
  /** Which of the patterns. */
  readonly pattern: number;
  /** Offset after its last byte. */
  readonly to: number;
}

/** Finds the first of several byte strings in a log as it grows, however the output is cut into chunks. */
export class PatternScan {
  readonly #patterns: readonly Buffer[];
  readonly #log: OutputLog;
  readonly #overlap: number;
  /** Everything before it was looked at. */
  #from: number;
  #found: BytesMatch | undefined;

  constructor(patterns: readonly Uint8Array[], log: OutputLog, from: number) {
    this.#patterns = patterns.map((pattern) => Buffer.from(pattern));
    this.#log = log;
    this.#overlap = Math.max(0, ...patterns.map(({ length }) => length)) - 1;
    this.#from = from;
  }

  get found(): BytesMatch | undefined {
    return this.#found;
  }

  /** Looks at what has come since the last time. The earliest position wins, at the same one the earlier pattern. */
  look(): BytesMatch | undefined {
    if (this.#found !== undefined) return this.#found;
    const { from, bytes } = this.#log.read(this.#from);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    let first = -1;
    for (const [pattern, wanted] of this.#patterns.entries()) {
      const at = text.indexOf(wanted);
      if (at === -1 || (first !== -1 && at >= first)) continue;
      first = at;
      this.#found = { pattern, to: from + at + wanted.length };
    }
    this.#from = Math.max(from, from + text.length - this.#overlap);
    return this.#found;
  }
}
