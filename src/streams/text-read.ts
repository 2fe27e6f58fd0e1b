import { cutSequence } from '../engine/reading/plain-output.ts';
import { incompleteTail } from '../lib/utf8.ts';
import type { TextPart } from './resource.ts';

export const lengthOf = (parts: readonly TextPart[]): number => parts.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** The parts without a character or an escape sequence at their end whose rest may still come, and how many bytes that is. */
export function heldBack(parts: readonly TextPart[]): { readonly parts: readonly TextPart[]; readonly held: number } {
  const last = parts.at(-1);
  if (last === undefined) return { parts, held: 0 };
  const held = Math.max(incompleteTail(last.bytes), cutSequence(last.bytes));
  if (held === 0) return { parts, held };
  const kept = { ...last, bytes: last.bytes.subarray(0, last.bytes.length - held) };
  return { parts: [...parts.slice(0, -1), kept], held };
}
