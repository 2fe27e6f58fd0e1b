import { randomBytes } from 'node:crypto';

/**
 * An answer in words: what we know first, then what the program printed between two lines that carry a word nobody
 * knew when it was printed. So no output can end its own fence, or put a fact of its own beside ours.
 */
export function fenced(facts: readonly string[], output: string, nonce: () => string = fresh): string {
  if (output === '') return [...facts.map(oneLine), '(no output)'].join('\n');
  let word = nonce();
  while (output.includes(word)) word = fresh();
  return [...facts.map(oneLine), `<output ${word}>`, output, `</output ${word}>`].join('\n');
}

const fresh = (): string => randomBytes(4).toString('hex');

/** A fact may quote a command or a title. */
const oneLine = (fact: string): string => fact.replace(/\s*\n\s*/g, ' ⏎ ');
