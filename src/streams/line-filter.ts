import { FairleadError } from '../contract/errors.ts';
import { remoteError } from '../contract/remote-errors.ts';
import { plainOutput } from '../engine/reading/plain-output.ts';
import { compilePattern, type Pattern } from '../engine/waiting/pattern.ts';
import type { Stretch, TextContent, TextRead } from './resource.ts';

const newline = 0x0a;
/** A longer line is matched and delivered in pieces of this size: a program may print one without an end. */
const longestLine = 64 << 10;

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
 * Finds the lines of a growing text that match. A line is judged when it is complete, by its plain text without its end, and delivered
 * whole or not at all.
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

  /** Takes in what came up to now. The stretch of complete lines, and where in it the first match begins; undefined if no line ended. */
  feed(content: TextContent, isOver: boolean): { readonly to: number; readonly match: number | undefined } | undefined {
    const to = this.#completeTo(content, isOver);
    if (to === undefined) return undefined;
    const lines = linesOf(content, { from: this.#lineAt, to });
    this.#lineAt = to;
    for (const line of lines) if (this.#matches(content, line)) return { to, match: line.from };
    return { to, match: undefined };
  }

  /** The matching lines of a stretch that begins and ends with whole lines. Neighbours are one. */
  *select(content: TextContent, span: Stretch): Generator<Stretch, void, void> {
    let run: Stretch | undefined;
    for (const line of linesOf(content, span)) {
      if (!this.#matches(content, line)) continue;
      if (run?.to === line.from) run = { from: run.from, to: line.to };
      else {
        if (run) yield run;
        run = line;
      }
    }
    if (run) yield run;
  }

  /** The end of the last complete line, if there is a new one. */
  #completeTo(content: TextContent, isOver: boolean): number | undefined {
    const { end } = content;
    if (isOver) return end > this.#lineAt ? end : undefined;
    const fresh = content.read({ from: this.#searchedTo, to: end }, Number.POSITIVE_INFINITY);
    this.#searchedTo = end;
    const last = lastNewline(fresh);
    if (last !== undefined) return last + 1;
    return end - this.#lineAt >= longestLine ? end : undefined;
  }

  #matches(content: TextContent, line: Stretch): boolean {
    const { parts } = content.read(line, longestLine + 1);
    const text = plainOutput(Buffer.concat(parts.map(({ bytes }) => bytes)).toString('utf8')).text;
    // A line that was redrawn (carriage returns) is several: each of them was shown.
    return text
      .replace(/\n$/, '')
      .split('\n')
      .some((shown) => this.pattern.exec(shown) !== undefined);
  }
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

/** The lines of a stretch, each with its end; those that are too long in pieces. */
function* linesOf(content: TextContent, span: Stretch): Generator<Stretch, void, void> {
  const { from, parts } = content.read(span, Number.POSITIVE_INFINITY);
  let at = from;
  let lineAt = from;
  for (const { bytes } of parts) {
    for (let place = bytes.indexOf(newline); place >= 0; place = bytes.indexOf(newline, place + 1)) {
      yield* pieces(lineAt, at + place + 1);
      lineAt = at + place + 1;
    }
    at += bytes.length;
  }
  if (at > lineAt) yield* pieces(lineAt, at);
}

function* pieces(from: number, to: number): Generator<Stretch, void, void> {
  for (let at = from; at < to; at += longestLine) yield { from: at, to: Math.min(to, at + longestLine) };
}
