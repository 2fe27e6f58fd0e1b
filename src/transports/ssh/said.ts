/** What a server or a library said, fit for one line of ours: no control characters, no full stop, not long. */
export function said(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  const short = plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
  return short.replace(/[.\s]+$/, '');
}
