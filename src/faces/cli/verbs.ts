import type { AnyOperation, Book } from '../../engine/call/operation.ts';

/** One thing a person can ask for on the command line. */
export interface Verb {
  readonly noun: string;
  /** With dashes: `run-wait`. */
  readonly verb: string;
  /** The method it calls. */
  readonly method: string;
  readonly op: AnyOperation;
}

/** The verbs of a book by noun: its own names, and those an operation has besides. */
export function verbsOf({ nouns }: Book): ReadonlyMap<string, ReadonlyMap<string, Verb>> {
  const all = new Map<string, Map<string, Verb>>();
  const add = (noun: string, verb: string, method: string, op: AnyOperation): void => {
    const verbs = all.get(noun) ?? new Map<string, Verb>();
    all.set(noun, verbs);
    if (!verbs.has(verb)) verbs.set(verb, { noun, verb, method, op });
  };
  for (const [noun, verbs] of Object.entries(nouns)) {
    for (const [verb, op] of Object.entries(verbs)) {
      const method = `${noun}.${verb}`;
      for (const other of op.cliNames ?? []) {
        const [otherNoun = '', otherVerb = ''] = other.split(' ');
        add(otherNoun, otherVerb, method, op);
      }
      add(noun, verb.replaceAll('_', '-'), method, op);
    }
  }
  return all;
}

/** What follows the verb by position. */
export const placesOf = ({ positional = [], lastTakesRest }: AnyOperation): string =>
  positional.map((name) => (name === 'id' ? '[session]' : `<${String(name).replaceAll('_', '-')}>`)).join(' ') +
  (lastTakesRest ? '…' : '');

/** The line that help shows under "Usage". */
export const usageOf = ({ noun, verb, op }: Verb): string =>
  `fairlead ${noun} ${verb} ${[placesOf(op), '[options]'].join(' ').trimStart()}`;
