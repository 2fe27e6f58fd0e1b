import type { OlderRow } from './scrolled-rows.ts';

/**
 * The first `count` rows that these become on a narrower screen. A reflow pushes them out of the emulator before they can be read;
 * wide characters count as one column here, so a row of them may be cut in another place.
 */
export function rewrapped(rows: readonly OlderRow[], cols: number, count = Number.POSITIVE_INFINITY): OlderRow[] {
  const lines: string[] = [];
  for (const { text, wrapped } of rows) {
    if (wrapped && lines.length > 0) lines[lines.length - 1] += text;
    else lines.push(text);
  }
  const result: OlderRow[] = [];
  for (const line of lines) {
    const characters = [...line];
    for (let at = 0; at === 0 || at < characters.length; at += cols) {
      if (result.length === count) return result;
      result.push({ text: characters.slice(at, at + cols).join(''), wrapped: at > 0 });
    }
  }
  return result;
}
