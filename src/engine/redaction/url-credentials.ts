import type { Span } from './span.ts';

/** `scheme://user:password@host`: the password only. The last `@` before a slash ends it. */
const credentials =
  /(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}:\/\/[^\s/:@"'<>`]{0,256}:([^\s/"'<>`]{1,512})@(?=[A-Za-z0-9[%$_.-])/dg;

export function urlCredentials(text: string): Span[] {
  if (!text.includes('://')) return [];
  const spans: Span[] = [];
  for (const match of text.matchAll(credentials)) {
    const [start, end] = match.indices?.[1] ?? [0, 0];
    if (!/^\$\{?\w+\}?$/.test(match[1] as string)) spans.push({ start, end });
  }
  return spans;
}
