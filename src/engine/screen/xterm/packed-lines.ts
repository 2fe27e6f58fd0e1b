import { bits, blankContent, cellSize, type CoreBuffer, type CoreExtended, type CoreLine } from './core.ts';

/**
 * Lines as bytes, exactly. What is alike lies together, because that deflates best: the pens that occur, then for each
 * line a header and its runs of one pen, then the characters of all lines. A screen of text takes about a byte a character
 * before it is deflated.
 */

/** What is rare: characters of several code points, and underline styles or links, with where they stand. */
interface Rare {
  readonly combined: [line: number, x: number, text: string][];
  readonly extended: [line: number, x: number, ext: number, url: number][];
}

const escapeByte = 0x80;

export function packLines(buffer: CoreBuffer, cols: number): Uint8Array {
  const packing = {
    pens: new Pens(),
    lines: new Writer(),
    characters: new Writer(),
    rare: { combined: [], extended: [] },
  };
  for (let row = 0; row < buffer.lines.length; row++) {
    const line = buffer.lines.get(row);
    if (line) packLine(packing, line, row, cols);
  }
  const out = new Writer();
  out.number(buffer.lines.length);
  out.section(packing.pens.bytes.taken());
  out.section(packing.lines.taken());
  out.section(packing.characters.taken());
  out.section(Buffer.from(JSON.stringify(packing.rare)));
  return out.taken();
}

interface Packing {
  readonly pens: Pens;
  readonly lines: Writer;
  readonly characters: Writer;
  readonly rare: Rare;
}

function packLine(packing: Packing, line: CoreLine, row: number, cols: number): void {
  const { pens, lines, characters, rare } = packing;
  const data = line._data;
  let used = line.length;
  while (used > 0 && isBlank(data, (used - 1) * cellSize)) used--;
  const otherLength = line.length !== cols;
  lines.number(used * 4 + (otherLength ? 2 : 0) + (line.isWrapped ? 1 : 0));
  if (otherLength) lines.number(line.length);
  for (let x = 0; x < used; ) {
    const fg = data[x * cellSize + 1] as number;
    const bg = data[x * cellSize + 2] as number;
    let end = x + 1;
    while (end < used && data[end * cellSize + 1] === fg && data[end * cellSize + 2] === bg) end++;
    lines.number(pens.index(fg, bg));
    lines.number(end - x);
    x = end;
  }
  for (let x = 0; x < used; x++) {
    const content = data[x * cellSize] as number;
    const plain = content ^ blankContent;
    if (plain < escapeByte) {
      characters.byte(plain);
    } else {
      characters.byte(escapeByte);
      characters.number(content);
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
  const pens: number[] = [];
  for (const pen = read.section(); !pen.atEnd; ) pens.push(pen.number());
  const lines = read.section();
  const characters = read.section();
  buffer.lines.length = 0;
  for (let row = 0; row < count; row++) {
    const header = lines.number();
    const line = blank.clone();
    line.isWrapped = (header & 1) !== 0;
    if (header & 2) line.resize(lines.number(), buffer.getNullCell());
    unpackCells({ pens, lines, characters }, line._data, header >>> 2);
    buffer.lines.push(line);
  }
  const rare = JSON.parse(read.section().text()) as Rare;
  for (const [row, x, text] of rare.combined) {
    const line = buffer.lines.get(row);
    if (line) line._combined[x] = text;
  }
  for (const [row, x, ext, url] of rare.extended) {
    const line = buffer.lines.get(row);
    if (line) line._extendedAttrs[x] = Object.assign(extended.clone(), { _ext: ext, _urlId: url });
  }
}

interface PackedCells {
  readonly pens: readonly number[];
  readonly lines: Reader;
  readonly characters: Reader;
}

function unpackCells({ pens, lines, characters }: PackedCells, data: Uint32Array, used: number): void {
  for (let x = 0; x < used; ) {
    const pen = lines.number() * 2;
    const end = x + lines.number();
    for (; x < end; x++) {
      data[x * cellSize + 1] = pens[pen] as number;
      data[x * cellSize + 2] = pens[pen + 1] as number;
    }
  }
  for (let x = 0; x < used; x++) {
    const plain = characters.byte();
    data[x * cellSize] = plain < escapeByte ? plain ^ blankContent : characters.number();
  }
}

/** Colours and styles are few: each is written once, and then only its number. */
class Pens {
  readonly bytes = new Writer();
  readonly #known = new Map<number, Map<number, number>>();
  #count = 0;

  index(fg: number, bg: number): number {
    let byBackground = this.#known.get(fg);
    if (!byBackground) this.#known.set(fg, (byBackground = new Map()));
    const known = byBackground.get(bg);
    if (known !== undefined) return known;
    byBackground.set(bg, this.#count);
    this.bytes.number(fg);
    this.bytes.number(bg);
    return this.#count++;
  }
}

const isBlank = (data: Uint32Array, at: number): boolean =>
  data[at] === blankContent && data[at + 1] === 0 && data[at + 2] === 0;

class Writer {
  #to = new Uint8Array(4 << 10);
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

  /** Bytes that are read on their own: how many, then they. */
  section(values: Uint8Array): void {
    this.number(values.length);
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

  section(): Reader {
    const length = this.number();
    this.#at += length;
    return new Reader(this.#from.subarray(this.#at - length, this.#at));
  }

  get atEnd(): boolean {
    return this.#at === this.#from.length;
  }

  text(): string {
    return Buffer.from(this.#from).toString();
  }
}
