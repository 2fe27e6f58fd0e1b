import type { AnyEntry, AnyStream, Book } from '../../engine/call/operation.ts';

/** One thing a person can ask for on the command line. */
export interface Verb {
  readonly noun: string;
  /** With dashes: `run-wait`. It may have two words: `record start`. */
  readonly verb: string;
  /** The method it calls. */
  readonly method: string;
  readonly op: AnyEntry;
  /** The same, where it yields items until the caller leaves. */
  readonly stream?: AnyStream;
}

/**
 * The verbs of a book by noun: its own names, and those an operation has besides. An operation with a secret field has none: every
 * process could read it off the command line.
 */
export function verbsOf({ nouns, streams = {} }: Book): ReadonlyMap<string, ReadonlyMap<string, Verb>> {
  const all = new Map<string, Map<string, Verb>>();
  const add = (noun: string, verb: string, method: string, op: AnyEntry): void => {
    const verbs = all.get(noun) ?? new Map<string, Verb>();
    all.set(noun, verbs);
    const stream = streams[noun]?.[verb];
    if (!verbs.has(verb)) verbs.set(verb, { noun, verb, method, op, ...(stream && { stream }) });
  };
  for (const [noun, verbs] of [...Object.entries(nouns), ...Object.entries(streams)]) {
    for (const [verb, op] of Object.entries<AnyEntry>(verbs)) {
      if (op.secretField !== undefined) continue;
      const method = `${noun}.${verb}`;
      for (const other of op.cliNames ?? []) {
        const [otherNoun = '', ...words] = other.split(' ');
        add(otherNoun, words.join(' '), method, op);
      }
      add(noun, verb.replaceAll('_', '-'), method, op);
    }
  }
  return all;
}

/** What follows the verb by position. */
export const placesOf = ({ positional = [], lastTakesRest }: AnyEntry): string =>
  positional.map((name) => (name === 'id' ? '[session]' : `<${String(name).replaceAll('_', '-')}>`)).join(' ') +
  (lastTakesRest ? '…' : '');

/** The line that help shows under "Usage". */
export const usageOf = ({ noun, verb, op }: Verb): string =>
  `fairlead ${noun} ${verb} ${[placesOf(op), '[options]'].join(' ').trimStart()}`;
