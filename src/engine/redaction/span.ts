/** A stretch of text that must not be shown. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Sorted, with overlapping spans joined: two rules that see one secret mask it once. */
export function joinSpans(spans: Span[]): Span[] {
  const sorted = spans.filter((span) => span.end > span.start).sort((a, b) => a.start - b.start || b.end - a.end);
  const joined: Span[] = [];
  for (const span of sorted) {
    const last = joined.at(-1);
    if (last === undefined || span.start >= last.end) joined.push(span);
    else if (span.end > last.end) joined[joined.length - 1] = { start: last.start, end: span.end };
  }
  return joined;
}
