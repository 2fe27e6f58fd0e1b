/** About how many bytes an answer has as JSON. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  if (value instanceof Uint8Array) return Math.ceil(value.length / 3) * 4;
  let size = 2;
  if (Array.isArray(value)) for (const one of value) size += sizeOf(one) + 1;
  else for (const [name, one] of Object.entries(value)) size += name.length + 4 + sizeOf(one);
  return size;
}
