const blank = new Uint8Array(64 << 10);

/**
 * Stands for output that the far side dropped while this process did not read. Offsets of the following bytes stay right: a note
 * comes first, then NUL bytes, which no terminal shows.
 */
export function* missing(count: number): Iterable<Uint8Array> {
  const note = Buffer.from(`\r\n[fairlead: ${count} bytes of output are missing here]\r\n`);
  yield count >= note.length ? note : blank.subarray(0, count);
  for (let left = count - note.length; left > 0; left -= blank.length) yield blank.subarray(0, left);
}
