import { cutSequence } from '../engine/reading/plain-output.ts';
import { incompleteTail } from '../lib/utf8.ts';
import type { TextPart } from './resource.ts';

/** A longer escape sequence without its end is text. */
export const longestHeld = 4096;

export const lengthOf = (parts: readonly TextPart[]): number => parts.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** Neighbours of one stream as one part. */
export function joinedParts(parts: readonly TextPart[]): TextPart[] {
  const runs: { readonly stream: TextPart['stream']; readonly bytes: Uint8Array[] }[] = [];
  for (const { stream, bytes } of parts) {
    const last = runs.at(-1);
    if (last && last.stream === stream) last.bytes.push(bytes);
    else runs.push({ stream, bytes: [bytes] });
  }
  return runs.map(({ stream, bytes }) => ({
    ...(stream !== undefined && { stream }),
    bytes: bytes.length === 1 ? (bytes[0] as Uint8Array) : Buffer.concat(bytes),
  }));
}

/** The parts without a character or an escape sequence at their end whose rest may still come, and how many bytes that is. */
export function heldBack(parts: readonly TextPart[]): { readonly parts: readonly TextPart[]; readonly held: number } {
  const last = parts.at(-1);
  if (last === undefined) return { parts, held: 0 };
  const held = Math.max(incompleteTail(last.bytes), cutSequence(last.bytes));
  if (held === 0) return { parts, held };
  if (held === last.bytes.length) return { parts: parts.slice(0, -1), held };
  const kept = { ...last, bytes: last.bytes.subarray(0, last.bytes.length - held) };
  return { parts: [...parts.slice(0, -1), kept], held };
}
