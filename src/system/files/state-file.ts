import { statSync } from 'node:fs';
import type { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { Emitter } from '../../lib/emitter.ts';
import { problemOf, refusal } from './json-problem.ts';
import { readText, writePrivate } from './private-files.ts';

/** A hand edit takes effect within two seconds. */
const lookEveryMs = 1000;

interface StateFileOptions<T extends z.ZodType> {
  readonly path: string;
  /** Must accept `{}`: what a missing file means. */
  readonly schema: T;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
  /** A malformed file keeps the last good value; without one, `unusable` applies. */
  readonly keepsGood?: true;
}

/** The newest change of a file since this process began. */
export interface FileChange {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Made by an editor or another process. */
  readonly byHand: boolean;
}

/** A settings file as a part that watches it sees it. */
export interface WatchedFile {
  readonly path: string;
  readonly complaint: string | undefined;
  readonly lastChange: FileChange | undefined;
  readonly changed: Emitter<FileChange>;
  look(): void;
}

/** One concern of the product, kept as JSON that people may edit. Missing or malformed means the defaults. */
export class StateFile<T extends z.ZodType> implements WatchedFile {
  readonly path: string;
  /** An edit is told of when the file is next looked at. */
  readonly changed = new Emitter<FileChange>();
  readonly #options: StateFileOptions<T>;
  #value: z.output<T> | undefined;
  /** Time and file stamp of the last read or write. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #seen = '';
  #warned = '';
  #unusable = false;
  #problem: string | undefined;
  #lastChange: FileChange | undefined;

  constructor(options: StateFileOptions<T>) {
    this.path = options.path;
    this.#options = options;
  }

  get(): z.output<T> {
    const now = this.#options.clock.monotonic();
    if (this.#value === undefined || now - this.#lookedAt >= lookEveryMs) {
      this.#lookedAt = now;
      const seen = signature(this.path);
      if (this.#value === undefined || seen !== this.#seen) {
        const isEdit = this.#value !== undefined;
        this.#seen = seen;
        this.#value = this.#read();
        if (isEdit) this.#tell(true);
      }
    }
    return this.#value as z.output<T>;
  }

  get lastChange(): FileChange | undefined {
    return this.#lastChange;
  }

  /** Reads the file again if it has changed, without waiting for the next look. */
  look(): void {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    this.get();
  }

  /** The file is malformed and was never read successfully: the value of `get` means nothing. */
  get unusable(): boolean {
    this.get();
    return this.#unusable;
  }

  /** Why the file cannot be used, and where; undefined when it can, or there is none. */
  get problem(): string | undefined {
    this.get();
    return this.#problem;
  }

  /** The same for a person, with the name of the file. */
  get complaint(): string | undefined {
    return this.problem === undefined ? undefined : `${this.path} cannot be understood (${this.problem})`;
  }

  /** Like `set`, based on the file as it is now, so that a recent manual edit counts. */
  update(change: (now: z.output<T>) => z.input<T>): z.output<T> {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    return this.set(change(this.get()));
  }

  /**
   * Writes changed fields; without a change the file stays untouched. Refused while the file is malformed: a typo must not
   * cost a person their edits.
   */
  set(value: z.input<T>): z.output<T> {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    if (this.problem !== undefined) throw refusal(this.path, this.problem);
    const next = this.#options.schema.parse(value);
    const text = `${JSON.stringify(next, null, 2)}\n`;
    const isNew = readText(this.path) !== text;
    if (isNew) writePrivate(this.path, text);
    this.#value = next;
    this.#unusable = false;
    this.#seen = signature(this.path);
    if (isNew) this.#tell(false);
    return next;
  }

  #tell(byHand: boolean): void {
    const change = { at: this.#options.clock.now(), byHand };
    this.#lastChange = change;
    this.changed.emit(change);
  }

  #read(): z.output<T> {
    const { schema, keepsGood } = this.#options;
    const good = this.#unusable ? undefined : this.#value;
    this.#unusable = false;
    this.#problem = undefined;
    const found = this.#text();
    if (found.text === undefined && found.problem === undefined) return schema.parse({});
    const parsed = schema.safeParse(json(found.text ?? ''));
    if (found.problem === undefined && parsed.success) return parsed.data;
    // The file is left as it is: a person may be editing it.
    const where = problemOf(found.text ?? '', schema);
    this.#problem = found.problem ?? where ?? 'it cannot be understood';
    const problem = found.problem ?? `cannot be understood (${this.#problem})`;
    const instead =
      keepsGood === undefined
        ? 'the defaults are used until it can'
        : good === undefined
          ? 'nothing is allowed that depends on it until it can'
          : 'what it said before stays in force until it can';
    const complaint = `${problem} ${found.text ?? ''}`;
    if (this.#warned !== complaint) this.#options.warn(`${this.path} ${problem}; ${instead}.`);
    this.#warned = complaint;
    if (keepsGood === undefined) return schema.parse({});
    this.#unusable = good === undefined;
    return good ?? schema.parse({});
  }

  #text(): { readonly text: string | undefined; readonly problem?: string } {
    try {
      return { text: readText(this.path) };
    } catch (error) {
      return { text: undefined, problem: `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})` };
    }
  }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function signature(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? '' : `${found.mtimeNs} ${found.size} ${found.ino}`;
}
