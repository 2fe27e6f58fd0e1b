/**
 * Frames between an instance and its keeper: length, type, terminal id, body. The length is a big-endian number of
 * four bytes and counts everything after itself. This layout is frame version 1 and stays readable for ever: a keeper may be
 * years older than the instance that finds it. Types are only ever added; unknown types are skipped.
 */
export const frameVersion = 1;
/** A longer frame cannot come from Fairlead. */
export const largestFrame = 16 << 20;
const lengthBytes = 4;
const longestId = 255;
/** The size of an offset: enough for 256 TiB of output. */
const offsetBytes = 6;

export const frameTypes = {
  hello: 1,
  welcome: 2,
  refused: 3,
  ping: 4,
  pong: 5,
  /** Starts a program; answered by `spawned` or `failed`. */
  spawn: 10,
  spawned: 11,
  failed: 12,
  /** Asks for all output from an offset on. */
  want: 13,
  data: 14,
  /** Everything before this offset was consumed: more may come. */
  ack: 15,
  /** Asks for all that the program has written so far; `flushed` follows it. */
  flush: 16,
  flushed: 17,
  exit: 18,
  /** Bytes to type, with the position of the first; answered by `accepted`, with the position after the last one typed. */
  input: 20,
  accepted: 21,
  /** Text to mask in the output from now on. */
  conceal: 22,
  resize: 23,
  kill: 24,
  /** Ends the program and all it started; answered by `terminated`. */
  terminate: 25,
  terminated: 26,
  forget: 27,
  /** A lease: the instance reads and types from this offset on; the descriptors came over the second connection. */
  lent: 28,
  /** The end of a lease: the keeper reads again, and sends what follows. */
  returned: 29,
  /** A program in a leased terminal has ended: the instance reads what is left, and returns the terminal. */
  gone: 32,
  /** Facts about a terminal and its state at an offset: the keeper stores them without interpreting them. */
  meta: 30,
  snapshot: 31,
  /** The keeper becomes another program, with everything it holds. */
  replace: 40,
  /** The keeper ends every terminal, and itself. */
  end: 41,
} as const;

export type FrameType = keyof typeof frameTypes;

export interface Frame {
  /** A number, because the type may be unknown. */
  readonly type: number;
  /** Empty in frames that concern no terminal. */
  readonly id: string;
  /** Without the offset that some types begin with. */
  readonly body: Uint8Array;
  /** 0 in types without one. */
  readonly offset: number;
}

const withOffset: ReadonlySet<number> = new Set(
  (['want', 'data', 'ack', 'flush', 'flushed', 'input', 'accepted', 'snapshot', 'lent'] as const).map(
    (name) => frameTypes[name],
  ),
);

const none = new Uint8Array(0);

/** A frame without its body. */
export function frameHead(type: FrameType, id: string, bodyLength: number, offset = 0): Buffer {
  const code = frameTypes[type];
  const idLength = Buffer.byteLength(id, 'latin1');
  if (idLength > longestId) throw new RangeError('The id of a terminal is too long for a frame.');
  const extra = withOffset.has(code) ? offsetBytes : 0;
  const length = 2 + idLength + extra + bodyLength;
  if (length > largestFrame) throw new RangeError(`A frame of ${length} bytes is too large.`);
  const head = Buffer.allocUnsafe(lengthBytes + 2 + idLength + extra);
  head.writeUInt32BE(length, 0);
  head[lengthBytes] = code;
  head[lengthBytes + 1] = idLength;
  head.write(id, lengthBytes + 2, 'latin1');
  if (extra > 0) head.writeUIntBE(offset, head.length - offsetBytes, offsetBytes);
  return head;
}

export function frame(type: FrameType, id = '', body: Uint8Array = none, offset = 0): Buffer {
  return Buffer.concat([frameHead(type, id, body.length, offset), body]);
}

/** The bytes are not frames. The next frame cannot be found: close the connection. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/**
 * Assembles frames from bytes that were cut anywhere. Output is not assembled: each piece becomes a frame of its own, without
 * a copy, at its offset.
 */
export class FrameReader {
  #parts: Uint8Array[] = [];
  #have = 0;
  /** A `data` frame that is not complete. */
  #open: { readonly id: string; offset: number; left: number } | undefined;

  /** The frames that end in this chunk, in order. They may point into it. */
  push(chunk: Uint8Array): Frame[] {
    const found: Frame[] = [];
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    if (this.#have > 0) {
      this.#parts.push(bytes);
      this.#have += bytes.length;
      if (this.#have < this.#needed()) return found;
      bytes = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#have = 0;
    }
    for (let at = 0; at < bytes.length; ) {
      const taken = this.#open ? this.#more(bytes, at, found) : this.#next(bytes, at, found);
      if (taken === 0) {
        this.#parts = [bytes.subarray(at)];
        this.#have = bytes.length - at;
        break;
      }
      at += taken;
    }
    return found;
  }

  /** How many bytes it takes to go on. */
  #needed(): number {
    const first = this.#parts[0] ?? none;
    if (first.length < lengthBytes + 2) return this.#have;
    const head = Buffer.from(first.buffer, first.byteOffset, first.length);
    const isData = head[lengthBytes] === frameTypes.data;
    return isData ? lengthBytes + 2 + (head[lengthBytes + 1] ?? 0) + offsetBytes : lengthBytes + head.readUInt32BE(0);
  }

  /** The bytes used; 0 if the frame is not complete. */
  #next(bytes: Buffer, at: number, found: Frame[]): number {
    if (bytes.length - at < lengthBytes + 2) return 0;
    const length = bytes.readUInt32BE(at);
    if (length > largestFrame || length < 2) throw new FrameError(`A frame cannot have ${length} bytes.`);
    const type = bytes[at + lengthBytes] ?? 0;
    const idLength = bytes[at + lengthBytes + 1] ?? 0;
    const idFrom = at + lengthBytes + 2;
    const extra = withOffset.has(type) ? offsetBytes : 0;
    if (length < 2 + idLength + extra) throw new FrameError(`A frame of type ${type} is cut short.`);
    const bodyFrom = idFrom + idLength + extra;
    const end = at + lengthBytes + length;
    const isWhole = end <= bytes.length;
    if (!isWhole && (type !== frameTypes.data || bodyFrom > bytes.length)) return 0;
    const id = bytes.toString('latin1', idFrom, idFrom + idLength);
    const offset = extra > 0 ? bytes.readUIntBE(idFrom + idLength, offsetBytes) : 0;
    if (isWhole) {
      found.push({ type, id, offset, body: bytes.subarray(bodyFrom, end) });
      return end - at;
    }
    this.#open = { id, offset, left: end - bodyFrom };
    return bodyFrom - at;
  }

  #more(bytes: Buffer, at: number, found: Frame[]): number {
    const open = this.#open;
    if (!open) return 0;
    const body = bytes.subarray(at, at + open.left);
    found.push({ type: frameTypes.data, id: open.id, offset: open.offset, body });
    open.offset += body.length;
    open.left -= body.length;
    if (open.left === 0) this.#open = undefined;
    return body.length;
  }
}
