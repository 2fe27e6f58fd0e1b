const maxCodes = 4096;
/** Power of two, twice the codes: probes stay short. */
const tableSize = 8192;

/** GIF's variable-length LZW over numbers below 2^bits, cut into its blocks of at most 255 bytes and closed. */
export function lzw(values: Uint8Array, bits: number): Uint8Array {
  const clear = 1 << bits;
  const keys = new Int32Array(tableSize);
  const codes = new Uint16Array(tableSize);
  const out = new BlockWriter();
  let size = bits + 1;
  let next = clear + 2;
  keys.fill(-1);
  out.bits(clear, size);
  let prefix = values[0] ?? 0;
  for (let at = 1; at < values.length; at++) {
    const key = (prefix << 8) | (values[at] as number);
    let slot = (key ^ (key >>> 7)) & (tableSize - 1);
    while (keys[slot] !== key && keys[slot] !== -1) slot = (slot + 1) & (tableSize - 1);
    if (keys[slot] === key) {
      prefix = codes[slot] as number;
      continue;
    }
    out.bits(prefix, size);
    prefix = values[at] as number;
    if (next < maxCodes) {
      keys[slot] = key;
      codes[slot] = next;
      // A reader knows this code one step later than we do: from there on codes are longer.
      if (next === 1 << size) size++;
      next++;
    } else {
      out.bits(clear, size);
      keys.fill(-1);
      size = bits + 1;
      next = clear + 2;
    }
  }
  if (values.length > 0) out.bits(prefix, size);
  if (next === 1 << size && size < 12) size++;
  out.bits(clear + 1, size);
  return out.finish();
}

/** Bits, lowest first, into blocks that begin with their length. */
class BlockWriter {
  #bytes = new Uint8Array(4096);
  #length = 1;
  #blockAt = 0;
  #pending = 0;
  #pendingBits = 0;

  bits(value: number, size: number): void {
    this.#pending |= value << this.#pendingBits;
    this.#pendingBits += size;
    while (this.#pendingBits >= 8) {
      this.#byte(this.#pending & 255);
      this.#pending >>>= 8;
      this.#pendingBits -= 8;
    }
  }

  finish(): Uint8Array {
    if (this.#pendingBits > 0) this.#byte(this.#pending & 255);
    const inBlock = this.#length - this.#blockAt - 1;
    this.#bytes[this.#blockAt] = inBlock;
    // An empty block closes the data; a full one was followed by the start of another, which then is it.
    if (inBlock > 0) this.#bytes[this.#length++] = 0;
    return this.#bytes.slice(0, this.#length);
  }

  #byte(value: number): void {
    if (this.#length + 2 >= this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length++] = value;
    if (this.#length - this.#blockAt === 256) {
      this.#bytes[this.#blockAt] = 255;
      this.#blockAt = this.#length++;
    }
  }
}
