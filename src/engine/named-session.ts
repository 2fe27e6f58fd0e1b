import { FairleadError } from '../contract/errors.ts';

export interface Nameable {
  readonly number: number;
  readonly id: string;
  readonly name: string | undefined;
  readonly isLive: boolean;
}

/**
 * The session a person means by its number, its id or its name. Names may be given twice: one that runs is meant before
 * one that has ended, and of several that run nobody guesses.
 */
export function namedSession<T extends Nameable>(key: string, sessions: readonly T[]): T {
  const exact = sessions.find(({ id, number }) => id === key || String(number) === key);
  if (exact) return exact;
  const called = sessions.filter(({ name }) => name === key);
  const [live, ...more] = called.filter(({ isLive }) => isLive);
  if (live && more.length > 0) {
    const numbers = [live, ...more].map(({ number }) => number);
    throw new FairleadError('invalid_input', `Several sessions are called ${key}: ${numbers.join(', ')}.`, {
      hint: 'Say which by its number.',
    });
  }
  const found = live ?? called.at(-1);
  if (found) return found;
  const known = sessions.map(({ number, name }) => (name === undefined ? `${number}` : `${number} (${name})`));
  throw new FairleadError('terminal_not_found', `There is no session ${key.slice(0, 64)}.`, {
    hint: known.length === 0 ? 'None is open.' : `Open: ${known.join(', ')}.`,
  });
}

export const isWholeNumber = (word: string): boolean => /^\d+$/.test(word.trim());

const longestName = 64;

/** The name, or where it is taken or cannot be one the first free with a number behind it: `build-2`. */
export function freeName(name: string, taken: readonly (string | undefined)[]): string {
  let free = name;
  for (let number = 2; taken.includes(free) || isWholeNumber(free); number++) {
    const end = `-${number}`;
    free = `${name.slice(0, longestName - end.length)}${end}`;
  }
  return free;
}
