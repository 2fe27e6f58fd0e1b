import { FairleadError } from '../contract/errors.ts';
import { remoteError } from '../contract/remote-errors.ts';
import { plainOutput } from '../engine/reading/plain-output.ts';
import { compilePattern, type Pattern } from '../engine/waiting/pattern.ts';
import type { LaneRange } from './lane.ts';
import type { Stretch, TextContent, TextRead } from './resource.ts';

const newline = 0x0a;
/** A longer line is matched and delivered in pieces of this size: a program may print one without an end. */
const longestLine = 64 << 10;
/** Bytes read from the log at a time. */
const blockSize = 2 * longestLine;

/** Compiles a filter. Throws FILTER_INVALID; its length counts characters. */
export function compileFilter(source: string, longest: number): Pattern {
  const characters = [...source].length;
  if (characters > longest) {
    throw remoteError('FILTER_INVALID', `The filter has ${characters} characters`, { context: `limit=${longest}` });
  }
  try {
    return compilePattern(source, '', { longest: source.length });
  } catch (cause) {
    throw remoteError('FILTER_INVALID', cause instanceof FairleadError ? cause.message : 'The filter cannot be used', {
      cause,
    });
  }
}

/**
 * Finds out whether the lines of a growing text match. A line is judged when it is complete, by its plain text without its end, and
 * delivered whole or not at all.
 */
export class LineFilter {
  readonly pattern: Pattern;
  /** Where the line begins that has no end yet. */
  #lineAt: number;
  /** No line ends between there and here. */
  #searchedTo: number;

  constructor(pattern: Pattern, from: number) {
    this.pattern = pattern;
    this.#lineAt = this.#searchedTo = from;
  }

  get lineAt(): number {
    return this.#lineAt;
  }

  /** The client has read everything before this offset: what is left of its line is a line. */
  skip(to: number): void {
    this.#lineAt = Math.max(this.#lineAt, to);
    this.#searchedTo = Math.max(this.#searchedTo, to);
  }

  /**
   * Takes in what came up to now: the stretch of lines that are complete, beginning with the first one that matches. `from` is undefined
   * when none does; the result is undefined when no line ended. With no time left it promises nothing: the stretch begins with the first
   * line that was not judged, and its reader judges the rest.
   */
  feed(
    content: TextContent,
    isOver: boolean,
    isTired: () => boolean,
  ): { readonly from: number | undefined; readonly to: number } | undefined {
    const from = this.#lineAt;
    const to = isOver ? content.end : this.#completeTo(content);
    if (to <= from) return undefined;
    this.#lineAt = to;
    this.#searchedTo = Math.max(this.#searchedTo, to);
    // What is gone already was not judged: it counts as lost when its client reads.
    if (content.start > from) return { from, to };
    for (const span of matchingSpans(content, { from, to }, { pattern: this.pattern, matchedTo: 0 })) {
      if (span.isMatch) return { from: span.from, to };
      if (span.to < to && isTired()) return { from: span.to, to };
    }
    return { from: undefined, to };
  }

  /** The end of the last complete line, or of the last full piece of one that is too long. */
  #completeTo(content: TextContent): number {
    const fresh = content.read({ from: this.#searchedTo, to: content.end }, Number.POSITIVE_INFINITY);
    this.#searchedTo = content.end;
    const last = lastNewline(fresh);
    const lineAt = last === undefined ? Math.max(this.#lineAt, content.start) : last + 1;
    return lineAt + longestLine * Math.floor((content.end - lineAt) / longestLine);
  }
}

export interface JudgedSpan extends Stretch {
  readonly isMatch: boolean;
}

/** All of a stretch of whole lines, in spans that match and spans that do not. Long spans come in parts. */
export function* matchingSpans(
  content: TextContent,
  { from, to }: Stretch,
  { pattern, matchedTo }: Pick<LaneRange, 'pattern' | 'matchedTo'>,
): Generator<JudgedSpan, void, void> {
  let run: JudgedSpan | undefined;
  if (matchedTo > from) run = { from, to: matchedTo, isMatch: true };
  for (const { at, bytes } of lines(content, { from: Math.max(from, matchedTo), to })) {
    const isMatch = pattern === undefined || matches(pattern, bytes);
    const isSame = run?.isMatch === isMatch && at + bytes.length - run.from <= longestLine;
    if (run && !isSame) yield run;
    run = { from: run && isSame ? run.from : at, to: at + bytes.length, isMatch };
  }
  if (run) yield run;
}

function matches(pattern: Pattern, line: Uint8Array): boolean {
  const printed = Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8');
  const { text } = plainOutput(printed);
  const shown = text.endsWith('\n') ? text.slice(0, -1) : text;
  // A line that was redrawn (carriage returns) is several: each of them was shown.
  return shown.includes('\n') ? shown.split('\n').some((one) => pattern.test(one)) : pattern.test(shown);
}

/** The lines of a stretch, each with its end; those that are too long in pieces. */
function* lines(
  content: TextContent,
  { from, to }: Stretch,
): Generator<{ readonly at: number; readonly bytes: Uint8Array }, void, void> {
  let at = from;
  while (at < to) {
    const { parts, from: first } = content.read({ from: at, to }, blockSize);
    const block = parts.length === 1 && parts[0] ? parts[0].bytes : Buffer.concat(parts.map(({ bytes }) => bytes));
    if (block.length === 0) return;
    const isLast = first + block.length >= to;
    let lineAt = 0;
    while (lineAt < block.length) {
      const end = endOfLine(block, lineAt);
      if (end === undefined && !isLast) break;
      const next = end ?? block.length;
      yield { at: first + lineAt, bytes: block.subarray(lineAt, next) };
      lineAt = next;
    }
    at = first + lineAt;
  }
}

/** Undefined when the line may go on after the block. */
function endOfLine(block: Uint8Array, from: number): number | undefined {
  const place = block.indexOf(newline, from);
  const end = place < 0 ? block.length : place + 1;
  if (end - from >= longestLine) return from + longestLine;
  return place < 0 ? undefined : end;
}

function lastNewline({ to, parts }: TextRead): number | undefined {
  let at = to;
  for (const { bytes } of parts.toReversed()) {
    at -= bytes.length;
    const place = bytes.lastIndexOf(newline);
    if (place >= 0) return at + place;
  }
  return undefined;
}
