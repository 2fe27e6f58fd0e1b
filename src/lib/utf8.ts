/** How many bytes the code point that starts with `lead` has; 0 when no code point starts with it. */
export function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xc0) return 0;
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf8 ? 4 : 0;
}

export const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** How many bytes before `end` are the beginning of a code point whose rest is still missing: 0 to 3. */
export function incompleteTail(bytes: Uint8Array, end: number = bytes.length): number {
  const lowest = Math.max(0, end - 3);
  for (let at = end - 1; at >= lowest; at--) {
    const byte = bytes[at] as number;
    if (isContinuation(byte)) continue;
    const have = end - at;
    return sequenceLength(byte) > have ? have : 0;
  }
  return 0;
}
