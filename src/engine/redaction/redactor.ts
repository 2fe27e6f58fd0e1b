import { createHmac } from 'node:crypto';
import { CustomPatterns } from './custom-pattern.ts';
import { highEntropy } from './entropy.ts';
import { keyValues } from './key-value.ts';
import { namedFormats } from './named-formats.ts';
import { joinSpans, type Span } from './span.ts';
import { StreamRedactor } from './stream-redactor.ts';
import { urlCredentials } from './url-credentials.ts';

export interface RedactorOptions {
  /** Secret of this installation: equal secrets look equal here, and nowhere else. */
  readonly key: Uint8Array;
  /** Exact values to mask wherever they appear. Shorter than four characters would mask ordinary text: ignored. */
  readonly known?: readonly string[];
  /** Regular expressions from the settings. */
  readonly custom?: readonly string[];
}

export interface Redacted {
  readonly text: string;
  /** How many masks were put in. */
  readonly count: number;
}

export interface Row {
  readonly text: string;
  /** This row continues the one above. */
  readonly wrapped: boolean;
}

const shortestKnown = 4;
const mostKnown = 1_000;

/** Finds and masks secrets. One for every exit: model, mirror, log, cast, search. */
export class Redactor {
  readonly #key: Uint8Array;
  readonly #custom: CustomPatterns | undefined;
  readonly #problems: string[] = [];
  readonly #known = new Set<string>();
  #knownPattern: RegExp | undefined;

  constructor(options: RedactorOptions) {
    this.#key = options.key;
    const custom = options.custom ?? [];
    const report = (problem: string): void => void this.#problems.push(problem);
    this.#custom = custom.length === 0 ? undefined : new CustomPatterns(custom, report);
    for (const value of options.known ?? []) this.learn(value);
  }

  /** Sentences about custom patterns that cannot be used. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** From now on masks `value` everywhere; of a value of several lines, each line. The oldest of 1,000 is forgotten. */
  learn(value: string): void {
    for (const line of value.split(/\r?\n/)) {
      if (line.trim().length < shortestKnown) continue;
      this.#known.delete(line);
      this.#known.add(line);
    }
    for (const oldest of this.#known) {
      if (this.#known.size <= mostKnown) break;
      this.#known.delete(oldest);
    }
    this.#knownPattern = alternatives([...this.#known]);
  }

  redactText(text: string): Redacted {
    const stream = new StreamRedactor<undefined>(this);
    const pieces = [...stream.push(text, undefined), ...stream.end()];
    return { text: pieces.map((piece) => piece.text).join(''), count: stream.count };
  }

  /** Rows of a screen: a secret that runs on into the next row is masked in both, and rows stay rows. */
  redactRows(rows: readonly Row[]): { readonly rows: readonly string[]; readonly count: number } {
    const result: string[] = [];
    let count = 0;
    for (let first = 0; first < rows.length; ) {
      let last = first + 1;
      while (last < rows.length && rows[last]?.wrapped === true) last++;
      const masked = this.#redactLine(rows.slice(first, last).map((row) => row.text));
      result.push(...masked.rows);
      count += masked.count;
      first = last;
    }
    return { rows: result, count };
  }

  /** For live output in pieces. `cols` lets a line that fills the width count as wrapped. */
  stream<T = undefined>(options: { readonly cols?: number } = {}): StreamRedactor<T> {
    return new StreamRedactor<T>(this, options);
  }

  /** Where the secrets of plain text are: sorted, not overlapping. */
  spans(text: string): Span[] {
    const spans = [...namedFormats(text), ...keyValues(text), ...urlCredentials(text), ...highEntropy(text)];
    if (this.#custom !== undefined) spans.push(...this.#custom.find(text));
    if (this.#knownPattern !== undefined) {
      for (const match of text.matchAll(this.#knownPattern)) {
        spans.push({ start: match.index, end: match.index + match[0].length });
      }
    }
    return joinSpans(spans).filter((span) => !/^<redacted:[0-9a-f]{8}>$/.test(text.slice(span.start, span.end)));
  }

  mask(secret: string): string {
    return `<redacted:${createHmac('sha256', this.#key).update(secret).digest('hex').slice(0, 8)}>`;
  }

  #redactLine(rows: readonly string[]): { rows: string[]; count: number } {
    const line = rows.join('');
    const spans = this.spans(line);
    let offset = 0;
    const masked = rows.map((row) => {
      let text = '';
      let at = offset;
      const end = offset + row.length;
      for (const span of spans) {
        if (span.end <= offset || span.start >= end) continue;
        if (span.start >= offset) text += line.slice(at, span.start) + this.mask(line.slice(span.start, span.end));
        at = Math.min(span.end, end);
      }
      offset = end;
      return text + line.slice(at, end);
    });
    return { rows: masked, count: spans.length };
  }
}

function alternatives(values: readonly string[]): RegExp | undefined {
  if (values.length === 0) return undefined;
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((value) => value.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('|'), 'g');
}
