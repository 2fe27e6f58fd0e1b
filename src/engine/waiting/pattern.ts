import { RE2JS } from 're2js';
import { FairleadError } from '../../contract/errors.ts';

interface PatternMatch {
  readonly index: number;
  readonly text: string;
  /** Capture groups from the first on; undefined for one that took no part. */
  readonly groups: readonly (string | undefined)[];
}

export interface Pattern {
  readonly source: string;
  /** The first match at or after `from`. Takes time linear in the text, whatever the pattern. */
  exec(text: string, from?: number): PatternMatch | undefined;
  /** Whether it matches anywhere: many times faster than finding out where. */
  test(text: string): boolean;
}

const longestPattern = 1000;
/** A bounded repetition is unrolled: `(a{500}){1000}` would be half a million steps for each character. */
const largestProgram = 10_000;

/**
 * A regular expression in linear time (RE2: no look-around, no back-references). Flags: `i` ignores case, `m` lets `^`
 * and `$` match at lines, `s` lets `.` match a newline. Throws `invalid_input` with the reason.
 */
export function compilePattern(source: string, flags = '', { longest = longestPattern } = {}): Pattern {
  if (source.length > longest) {
    throw invalid(source, `it is longer than ${longest} characters`);
  }
  const compiled = compile(source, flags);
  if (compiled.programSize() > largestProgram) throw invalid(source, 'its repetitions make it too large');
  return {
    source,
    test: (text) => compiled.test(text),
    exec(text, from = 0) {
      if (from > text.length) return undefined;
      const matcher = compiled.matcher(text);
      if (!matcher.find(from)) return undefined;
      const groups = Array.from({ length: matcher.groupCount() }, (_, at) => matcher.group(at + 1) ?? undefined);
      return { index: matcher.start(), text: matcher.group() ?? '', groups };
    },
  };
}

function compile(source: string, flags: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source), flagBits(source, flags));
  } catch (cause) {
    if (cause instanceof FairleadError) throw cause;
    throw invalid(source, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function flagBits(source: string, flags: string): number {
  let bits = 0;
  for (const flag of flags) {
    if (flag === 'i') bits |= RE2JS.CASE_INSENSITIVE;
    else if (flag === 'm') bits |= RE2JS.MULTILINE;
    else if (flag === 's') bits |= RE2JS.DOTALL;
    else throw invalid(source, `it has no flag "${flag}"; there are i, m and s`);
  }
  return bits;
}

function invalid(source: string, why: string, cause?: unknown): FairleadError {
  const shown = source.length > 80 ? `${source.slice(0, 80)}…` : source;
  return new FairleadError('invalid_input', `The pattern ${JSON.stringify(shown)} cannot be used: ${why}.`, {
    hint: 'Use RE2 syntax: no look-around and no back-references; \\b, \\d, groups and lazy repetition work.',
    cause,
  });
}
