/**
 * How an instance and its keeper talk: length, type, terminal id, body (R-HUB-030). The length is a big-endian number of
 * four bytes and counts everything after itself. This layout is frame version 1 and stays readable for ever: a keeper may be
 * years older than the instance that finds it. Types are only ever added; whoever does not know one skips it.
 */
export const frameVersion = 1;
/** Whoever sends more than this in one frame is not one of us. */
export const largestFrame = 16 << 20;
const lengthBytes = 4;
const longestId = 255;
/** Of every offset: more output than this nobody prints. */
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
  /** Asks for the output from an offset on, and for all that follows. */
  want: 13,
  data: 14,
  /** Everything before this offset was taken in: more may come. */
  ack: 15,
  /** Asks for all that the program has written so far; `flushed` comes after it. */
  flush: 16,
  flushed: 17,
  exit: 18,
  /** Bytes to type, with how many were typed before them; answered by `accepted` with how many were typed by then. */
  input: 20,
  accepted: 21,
  /** Text that must not appear in the output from now on. */
  conceal: 22,
  resize: 23,
  kill: 24,
  /** Ends the program and all it started; answered by `terminated`. */
  terminate: 25,
  terminated: 26,
  forget: 27,
  /** The terminal is the instance's to read and type into, from this offset on; its descriptors came over another connection. */
  lent: 28,
  /** The keeper reads again, and is asked for what follows. */
  returned: 29,
  /** A program has ended whose terminal is lent: what is left of its output is to be read, and the terminal to be returned. */
  gone: 32,
  /** Facts about a terminal and pictures of its screen: the keeper stores them and does not look inside. */
  meta: 30,
  snapshot: 31,
  /** The keeper goes on as another program, with everything it holds. */
  replace: 40,
  /** The keeper ends every terminal, and itself. */
  end: 41,
} as const;

export type FrameType = keyof typeof frameTypes;

export interface Frame {
  /** A number, because there may be types we do not know. */
  readonly type: number;
  /** Empty in frames that are about no terminal. */
  readonly id: string;
  /** For those that begin with an offset, what comes after it. */
  readonly body: Uint8Array;
  /** 0 in frames that carry none. */
  readonly offset: number;
}

const withOffset: ReadonlySet<number> = new Set(
  (['want', 'data', 'ack', 'flush', 'flushed', 'input', 'accepted', 'snapshot', 'lent'] as const).map(
    (name) => frameTypes[name],
  ),
);

const none = new Uint8Array(0);

/** Everything of a frame but its body, whose length it names. */
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

/** What came is not made of frames. There is no way to find the next one: the connection is of no more use. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/**
 * Puts frames together from bytes that were cut anywhere. Output is not put together: each piece is handed on as a frame of
 * its own, without a copy, at the offset it has.
 */
export class FrameReader {
  #parts: Uint8Array[] = [];
  #have = 0;
  /** A `data` frame whose end has not come. */
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

  /** How many bytes there must be before looking again is worth it. */
  #needed(): number {
    const first = this.#parts[0] ?? none;
    if (first.length < lengthBytes + 2) return this.#have;
    const head = Buffer.from(first.buffer, first.byteOffset, first.length);
    const isData = head[lengthBytes] === frameTypes.data;
    return isData ? lengthBytes + 2 + (head[lengthBytes + 1] ?? 0) + offsetBytes : lengthBytes + head.readUInt32BE(0);
  }

  /** The bytes taken; 0 when it is not all there yet. */
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
