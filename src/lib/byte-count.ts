/** `65536`, `64k`, `10mb`, `1 GiB`: bytes, 1024-based whichever way the unit is written. Undefined when it is no size. */
export function parseByteCount(text: string): number | undefined {
  const [, digits, unit = ''] = /^(-?\d+) *(b|[kmgt]i?b?)?$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  const power = ['b', 'k', 'm', 'g', 't'].indexOf(unit.charAt(0).toLowerCase());
  return Number(digits) * 1024 ** Math.max(0, power);
}

/** `812 B`, `3.4 KB`, `12.0 MB`, 1024-based: for people. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / (1 << 20)).toFixed(1)} MB`;
}
