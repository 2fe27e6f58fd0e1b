/**
 * Memory to read into, shared by all terminals: an idle one holds none, and a flood reuses the same few slabs instead
 * of having the kernel clear fresh pages for every chunk.
 */

/** The kernel holds some 12 KB for a program that prints: it goes on printing while as much is worked on here. */
export const SLAB = 16 * 1024;
/** Up to this size a chunk is a copy of its own, so that a few bytes do not hold a slab. */
const COPIED = 1024;
const SPARES = 64;
/** A read this short has emptied the terminal: asking for more would only cost time. */
export const SHORT = 1024;

type Read = (into: Uint8Array) => number;

/** Where output is read to, and how it becomes chunks owned by their receiver. */
export interface Landing {
  /** Where a stream puts the first bytes of a turn. */
  readonly first: Uint8Array;
  /**
   * What lies in `first` already and then whatever `read` gives, until it gives none or there are `SLAB` bytes. With nothing
   * there, `begin` is asked first.
   */
  readonly fill: (already: number, read: Read, begin?: Read) => Uint8Array;
}

/** Good until the callback of the stream returns. */
const firstRead = new Uint8Array(16 * 1024);

const spares: Uint8Array[] = [];
/** Slabs with chunks in use. */
const out = new WeakSet<ArrayBufferLike>();
let current: Uint8Array = new Uint8Array(SLAB);

const room = (filled: number): Uint8Array => current.subarray(filled);

function fill(already: number, read: Read, first?: Read): Uint8Array {
  current.set(firstRead.subarray(0, already));
  return kept(readOn(room, already, read, first));
}

/** Reads behind what is there already until there is no more, or no more room; how many bytes are there then. */
export function readOn(room: (filled: number) => Uint8Array, already: number, read: Read, first: Read = read): number {
  let filled = already;
  while (filled < SLAB && (already === 0 || already > SHORT)) {
    const length = (filled === 0 ? first : read)(room(filled));
    if (length <= 0) break;
    filled += length;
  }
  return filled;
}

/** A chunk of bytes that lie elsewhere. */
export function copied(bytes: Uint8Array): Uint8Array {
  current.set(bytes);
  return kept(bytes.length);
}

function kept(length: number): Uint8Array {
  if (length <= COPIED) return current.slice(0, length);
  const chunk = current.subarray(0, length);
  out.add(chunk.buffer);
  current = spares.pop() ?? new Uint8Array(SLAB);
  return chunk;
}

/** Releases a chunk. Foreign memory is left alone: the memory around it may be in use. */
export function recycle(chunk: Uint8Array): void {
  if (out.delete(chunk.buffer) && spares.length < SPARES) spares.push(new Uint8Array(chunk.buffer));
}

export const slabs: Landing = { first: firstRead, fill };
