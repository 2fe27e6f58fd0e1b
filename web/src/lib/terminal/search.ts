/** A line of the buffer: rows that were wrapped are one. */
export interface SearchLine {
  /** The first of its rows, counted from the top of the buffer. */
  readonly row: number;
  readonly text: string;
}

/** Where a match begins, and how many characters it has. */
export interface Match {
  readonly row: number;
  readonly col: number;
  readonly length: number;
}

export interface SearchOptions {
  readonly matchCase: boolean;
  readonly regex: boolean;
}

export interface Searched {
  readonly matches: readonly Match[];
  /** Why it cannot be searched for. */
  readonly fault?: string;
  /** There may be more. */
  readonly isCut: boolean;
}

const mostMatches = 10_000;
/** 10,000 lines take some 30 ms; a busy machine or a bad expression must not hold the page up. */
const longestMs = 500;

/** Every match in the lines. `cols` tells in which row of a wrapped line a match begins. */
export function searchLines(
  lines: Iterable<SearchLine>,
  wanted: string,
  { matchCase, regex }: SearchOptions,
  cols: number,
  now: () => number = () => performance.now(),
): Searched {
  if (wanted === '') return { matches: [], isCut: false };
  let pattern: RegExp;
  try {
    pattern = new RegExp(
      regex ? wanted : wanted.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`),
      matchCase ? 'gu' : 'giu',
    );
  } catch {
    return { matches: [], fault: 'This is no regular expression.', isCut: false };
  }
  const until = now() + longestMs;
  const matches: Match[] = [];
  for (const { row, text } of lines) {
    if (now() > until) return { matches, isCut: true };
    for (const found of text.matchAll(pattern)) {
      if (found[0] === '') continue;
      const place = { row: row + Math.floor(found.index / cols), col: found.index % cols, length: found[0].length };
      if (matches.push(place) >= mostMatches) return { matches, isCut: true };
    }
  }
  return { matches, isCut: false };
}

/** The match nearest to what is looked at: the last at or above this row, else the first. */
export function nearest(matches: readonly Match[], row: number): number {
  const at = matches.findLastIndex((match) => match.row <= row);
  return matches.length === 0 ? -1 : Math.max(0, at);
}
