/**
 * Zeroed memory for a secret, to be overwritten with `fill(0)` after use. It lies outside the heap of JavaScript: small buffers lie within, where the
 * garbage collector moves them and leaves copies behind.
 */
export const wipeable = (size: number): Buffer => Buffer.from(new ArrayBuffer(size));

/** All parts in one, such memory. The parts are overwritten. */
export function wipeableOf(parts: readonly Uint8Array[]): Buffer {
  const whole = wipeable(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
    part.fill(0);
  }
  return whole;
}
