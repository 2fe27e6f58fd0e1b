import { createHmac } from 'node:crypto';
import { CustomPatterns } from './custom-pattern.ts';
import { highEntropy } from './entropy.ts';
import { keyValues } from './key-value.ts';
import { namedFormats } from './named-formats.ts';
import { joinSpans, type Span } from './span.ts';
import { StreamRedactor } from './stream-redactor.ts';
import { urlCredentials } from './url-credentials.ts';

interface RedactorOptions {
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

  /** The values it was told of, oldest first. */
  get known(): readonly string[] {
    return [...this.#known];
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
}

function alternatives(values: readonly string[]): RegExp | undefined {
  if (values.length === 0) return undefined;
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((value) => value.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('|'), 'g');
}
