/** A UUID that sorts by the time it was made (RFC 9562, version 7). `random` must hold ten bytes. */
export function uuid7(nowMs: number, random: Uint8Array): string {
  const bytes = new Uint8Array(16);
  for (let at = 0, rest = nowMs; at < 6; at += 1, rest = Math.floor(rest / 256)) bytes[5 - at] = rest % 256;
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
