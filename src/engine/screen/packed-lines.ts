import { bits, blankContent, cellSize, type CoreBuffer, type CoreExtended, type CoreLine } from './core.ts';

/**
 * Lines as bytes, exactly: per line a header, runs of equal colours, then the characters. A screen of text takes about a
 * byte a character before it is deflated.
 */

/** What is rare: characters of several code points, and underline styles or links, with where they stand. */
interface Rare {
  readonly combined: [line: number, x: number, text: string][];
  readonly extended: [line: number, x: number, ext: number, url: number][];
}

const escapeByte = 0x80;

export function packLines(buffer: CoreBuffer, cols: number): Uint8Array {
  const out = new Writer();
  const rare: Rare = { combined: [], extended: [] };
  out.number(buffer.lines.length);
  for (let row = 0; row < buffer.lines.length; row++) {
    const line = buffer.lines.get(row);
    if (line) packLine(out, line, row, cols, rare);
  }
  const extras = Buffer.from(JSON.stringify(rare));
  out.number(extras.length);
  out.bytes(extras);
  return out.taken();
}

function packLine(out: Writer, line: CoreLine, row: number, cols: number, rare: Rare): void {
  const data = line._data;
  let used = line.length;
  while (used > 0 && isBlank(data, (used - 1) * cellSize)) used--;
  const otherLength = line.length !== cols;
  out.number(used * 4 + (otherLength ? 2 : 0) + (line.isWrapped ? 1 : 0));
  if (otherLength) out.number(line.length);
  for (let x = 0; x < used; ) {
    const fg = data[x * cellSize + 1] as number;
    const bg = data[x * cellSize + 2] as number;
    let end = x + 1;
    while (end < used && data[end * cellSize + 1] === fg && data[end * cellSize + 2] === bg) end++;
    out.number(end - x);
    out.number(fg);
    out.number(bg);
    x = end;
  }
  for (let x = 0; x < used; x++) {
    const content = data[x * cellSize] as number;
    const plain = content ^ blankContent;
    if (plain < escapeByte) {
      out.byte(plain);
    } else {
      out.byte(escapeByte);
      out.number(content);
    }
    if ((content & bits.combined) !== 0) rare.combined.push([row, x, line._combined[x] ?? '']);
    const extended = (data[x * cellSize + 2] as number) & bits.bg.extended ? line._extendedAttrs[x] : undefined;
    if (extended) rare.extended.push([row, x, extended._ext, extended._urlId]);
  }
}

/** Fills an empty buffer again. `blank` is a blank line as wide as the screen, `extended` any extended attributes. */
export function unpackLines(bytes: Uint8Array, buffer: CoreBuffer, blank: CoreLine, extended: CoreExtended): void {
  const read = new Reader(bytes);
  const count = read.number();
  buffer.lines.length = 0;
  for (let row = 0; row < count; row++) {
    const header = read.number();
    const line = blank.clone();
    line.isWrapped = (header & 1) !== 0;
    if (header & 2) line.resize(read.number(), buffer.getNullCell());
    unpackCells(read, line._data, header >>> 2);
    buffer.lines.push(line);
  }
  const rare = JSON.parse(Buffer.from(read.bytes(read.number())).toString()) as Rare;
  for (const [row, x, text] of rare.combined) {
    const line = buffer.lines.get(row);
    if (line) line._combined[x] = text;
  }
  for (const [row, x, ext, url] of rare.extended) {
    const line = buffer.lines.get(row);
    if (line) line._extendedAttrs[x] = Object.assign(extended.clone(), { _ext: ext, _urlId: url });
  }
}

function unpackCells(read: Reader, data: Uint32Array, used: number): void {
  for (let x = 0; x < used; ) {
    const end = x + read.number();
    const fg = read.number();
    const bg = read.number();
    for (; x < end; x++) {
      data[x * cellSize + 1] = fg;
      data[x * cellSize + 2] = bg;
    }
  }
  for (let x = 0; x < used; x++) {
    const plain = read.byte();
    data[x * cellSize] = plain < escapeByte ? plain ^ blankContent : read.number();
  }
}

const isBlank = (data: Uint32Array, at: number): boolean =>
  data[at] === blankContent && data[at + 1] === 0 && data[at + 2] === 0;

class Writer {
  #to = new Uint8Array(64 << 10);
  #at = 0;

  byte(value: number): void {
    if (this.#at === this.#to.length) this.#grow(1);
    this.#to[this.#at++] = value;
  }

  /** Seven bits a byte, least first; any unsigned 32-bit number. */
  number(value: number): void {
    let rest = value >>> 0;
    while (rest > 0x7f) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  bytes(values: Uint8Array): void {
    if (this.#at + values.length > this.#to.length) this.#grow(values.length);
    this.#to.set(values, this.#at);
    this.#at += values.length;
  }

  taken(): Uint8Array {
    return this.#to.subarray(0, this.#at);
  }

  #grow(by: number): void {
    const larger = new Uint8Array(Math.max(this.#to.length * 2, this.#at + by));
    larger.set(this.#to);
    this.#to = larger;
  }
}

class Reader {
  readonly #from: Uint8Array;
  #at = 0;

  constructor(from: Uint8Array) {
    this.#from = from;
  }

  byte(): number {
    return this.#from[this.#at++] as number;
  }

  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  bytes(count: number): Uint8Array {
    this.#at += count;
    return this.#from.subarray(this.#at - count, this.#at);
  }
}
