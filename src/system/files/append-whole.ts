import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';

/** Writes bytes at the end of a file; tells how many it took. */
export type Append = (fd: number, bytes: Buffer) => number;
export const append: Append = (fd, bytes) => writeSync(fd, bytes);

/**
 * Appends a line, all of it or nothing: a partial write on a full disk is truncated again, unless another process has
 * written after it. The file must be open for reading and appending (`a+`).
 */
export function appendWhole(fd: number, line: string, write: Append = append): void {
  const bytes = Buffer.from(line);
  let done = 0;
  try {
    while (done < bytes.length) {
      const taken = write(fd, bytes.subarray(done));
      if (taken === 0) throw Object.assign(new Error('The disk takes no more.'), { code: 'ENOSPC' });
      done += taken;
    }
  } catch (error) {
    cutOff(fd, bytes.subarray(0, done));
    throw error;
  }
}

function cutOff(fd: number, written: Buffer): void {
  if (written.length === 0) return;
  try {
    const start = fstatSync(fd).size - written.length;
    const found = Buffer.alloc(written.length);
    if (start >= 0 && readSync(fd, found, 0, found.length, start) === found.length && found.equals(written)) {
      ftruncateSync(fd, start);
    }
  } catch {
    // The error of the write says more.
  }
}
