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

/** Where a stream puts the first bytes of a turn. Good until its callback returns. */
export const firstRead = new Uint8Array(16 * 1024);

const spares: Uint8Array[] = [];
let current: Uint8Array = new Uint8Array(SLAB);

type Read = (into: Uint8Array) => number;

/** What lies in `firstRead` already and then whatever `read` gives, until it gives none or the slab is full. With nothing there, `first` begins. */
export function fill(already: number, read: Read, first: Read = read): Uint8Array {
  current.set(firstRead.subarray(0, already));
  let filled = already;
  while (filled < SLAB && (already === 0 || already > SHORT)) {
    const length = (filled === 0 ? first : read)(current.subarray(filled));
    if (length <= 0) break;
    filled += length;
  }
  if (filled <= COPIED) return current.slice(0, filled);
  const chunk = current.subarray(0, filled);
  current = spares.pop() ?? new Uint8Array(SLAB);
  return chunk;
}

/** Nobody looks at this chunk any more. */
export function recycle(chunk: Uint8Array): void {
  if (chunk.length > COPIED && spares.length < SPARES) spares.push(new Uint8Array(chunk.buffer as ArrayBuffer));
}
