const blank = new Uint8Array(64 << 10);

/**
 * Stands for output the keeper had to drop while this process stood still. The bytes that follow keep their offsets, so what
 * is missing is filled up: with a word about it, and then with what no terminal shows.
 */
export function* missing(count: number): Iterable<Uint8Array> {
  const note = Buffer.from(`\r\n[fairlead: ${count} bytes of output are missing here]\r\n`);
  yield count >= note.length ? note : blank.subarray(0, count);
  for (let left = count - note.length; left > 0; left -= blank.length) yield blank.subarray(0, left);
}
