import { createHmac } from 'node:crypto';
import { CustomPatterns } from './custom-pattern.ts';
import { highEntropy } from './entropy.ts';
import { keyValues } from './key-value.ts';
import { namedFormats } from './named-formats.ts';
import { joinSpans, type Span } from './span.ts';
import { type StreamOptions, StreamRedactor } from './stream-redactor.ts';
import { type TriggerTables, triggerTables } from './trigger-tables.ts';
import { urlCredentials } from './url-credentials.ts';

interface RedactorOptions {
  /** Secret of this installation: equal secrets look equal here, and nowhere else. */
  readonly key: Uint8Array;
  /** Exact values to mask wherever they appear. Shorter than four characters would mask ordinary text: ignored. */
  readonly known?: readonly string[];
  /** Regular expressions from the settings, as they are now: a change counts at once, also for streams that have begun. */
  readonly custom?: readonly string[] | (() => readonly string[]);
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
  readonly #settings: () => readonly string[];
  /** Known values, and whether a caller knows them anyway. */
  readonly #known = new Map<string, boolean>();
  #patterns: readonly string[] = [];
  #custom: CustomPatterns | undefined;
  #problems: string[] = [];
  #knownPattern: RegExp | undefined;
  #knownInRows: RegExp | undefined;
  #triggers: TriggerTables | undefined;

  constructor(options: RedactorOptions) {
    this.#key = options.key;
    const { custom = [] } = options;
    this.#settings = typeof custom === 'function' ? custom : () => custom;
    for (const value of options.known ?? []) this.learn(value);
  }

  /** Sentences about custom patterns that cannot be used. */
  get problems(): readonly string[] {
    this.#look();
    return this.#problems;
  }

  /**
   * From now on masks `value` everywhere; of a value of several lines, each line. The oldest of 1,000 is forgotten.
   * `byCaller`: a caller gave it, so answers may hold it.
   */
  learn(value: string, { byCaller = false }: { readonly byCaller?: boolean } = {}): void {
    for (const line of value.split(/\r?\n/)) {
      if (line.trim().length < shortestKnown) continue;
      const isTold = byCaller && this.#known.get(line) !== false;
      this.#known.delete(line);
      this.#known.set(line, isTold);
    }
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= mostKnown) break;
      this.#known.delete(oldest);
    }
    const own = [...this.#known].filter(([, isTold]) => !isTold).map(([one]) => one);
    this.#knownPattern = alternatives([...this.#known.keys()], '');
    this.#knownInRows = alternatives(own, '\\n?');
    this.#triggers = undefined;
  }

  /** What any secret comes with; undefined when custom patterns may find one anywhere. */
  get triggers(): TriggerTables | undefined {
    if (this.#look() !== undefined) return undefined;
    this.#triggers ??= this.#known.size === 0 ? usualTriggers() : triggerTables([...this.#known.keys()]);
    return this.#triggers;
  }

  /** Whether `withoutKnown` has anything to mask. */
  get hidesKnown(): boolean {
    return this.#knownInRows !== undefined;
  }

  /**
   * The text as a model may read it: without known values, however plain. What only looks like a secret stays, because
   * work may depend on it. The rows of a screen may cut a value.
   */
  withoutKnown(text: string): string {
    if (this.#knownInRows === undefined) return text;
    return text.replace(this.#knownInRows, (found) => {
      const secret = found.replaceAll('\n', '');
      return this.mask(secret) + '\n'.repeat(found.length - secret.length);
    });
  }

  redactText(text: string): Redacted {
    const stream = new StreamRedactor<undefined>(this);
    const pieces = [...stream.push(text, undefined), ...stream.end()];
    return { text: pieces.map((piece) => piece.text).join(''), count: stream.count };
  }

  /** One that knows the same values and has these patterns: to try them out. */
  withPatterns(custom: readonly string[]): Redactor {
    return new Redactor({ key: this.#key, known: [...this.#known.keys()], custom });
  }

  /** For live output in pieces. */
  stream<T = undefined>(options: StreamOptions<T> = {}): StreamRedactor<T> {
    return new StreamRedactor<T>(this, options);
  }

  /** Where the secrets of plain text are: sorted, not overlapping. */
  spans(text: string): Span[] {
    const spans = [...namedFormats(text), ...keyValues(text), ...urlCredentials(text), ...highEntropy(text)];
    const custom = this.#look();
    if (custom !== undefined) spans.push(...custom.find(text));
    if (this.#knownPattern !== undefined) {
      for (const match of text.matchAll(this.#knownPattern)) {
        spans.push({ start: match.index, end: match.index + match[0].length });
      }
    }
    return joinSpans(spans).filter((span) => !/^<redacted:[0-9a-f]{8}>$/.test(text.slice(span.start, span.end)));
  }

  /** The custom patterns as they are now. */
  #look(): CustomPatterns | undefined {
    const patterns = this.#settings();
    if (patterns === this.#patterns) return this.#custom;
    const isSame = JSON.stringify(patterns) === JSON.stringify(this.#patterns);
    this.#patterns = patterns;
    if (isSame) return this.#custom;
    const problems: string[] = [];
    this.#problems = problems;
    const report = (problem: string): void => void problems.push(problem);
    this.#custom = patterns.length === 0 ? undefined : new CustomPatterns(patterns, report);
    return this.#custom;
  }

  mask(secret: string): string {
    return `<redacted:${createHmac('sha256', this.#key).update(secret).digest('hex').slice(0, 8)}>`;
  }
}

/** One for all redactors that know no value. */
let usual: TriggerTables | undefined;
const usualTriggers = (): TriggerTables => (usual ??= triggerTables());

/** Any of the values, with `between` between its characters. */
function alternatives(values: readonly string[], between: string): RegExp | undefined {
  if (values.length === 0) return undefined;
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  const escaped = (char: string): string => char.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
  return new RegExp(longestFirst.map((value) => Array.from(value, escaped).join(between)).join('|'), 'g');
}
