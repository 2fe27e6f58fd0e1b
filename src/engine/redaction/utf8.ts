import { isAscii } from 'node:buffer';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Whole characters as text. The quicker way depends on what they are. */
export function decoded(bytes: Buffer, from: number, to: number): string {
  const part = bytes.subarray(from, to);
  return isAscii(part) ? part.toString('latin1') : decoder.decode(part, { stream: true });
}
