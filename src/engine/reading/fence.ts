import { randomBytes } from 'node:crypto';

/**
 * An answer in words: our facts first, then the program's output between two lines with a fresh nonce. So output cannot
 * close its own fence, or place a fact beside ours.
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
