import { FairleadError } from '../../contract/errors.ts';

export interface Nameable {
  readonly number: number;
  readonly id: string;
  readonly name: string | undefined;
  readonly isLive: boolean;
}

/** The session a person means by its number, its id or its name. */
export function namedSession<T extends Nameable>(key: string, sessions: readonly T[]): T {
  const found = sessions.find(({ id, number }) => id === key || String(number) === key) ?? calledSo(key, sessions);
  if (found) return found;
  const known = sessions.map(({ number, name }) => (name === undefined ? `${number}` : `${number} (${name})`));
  throw new FairleadError('terminal_not_found', `There is no session ${key.slice(0, 64)}.`, {
    hint: known.length === 0 ? 'None is open.' : `Open: ${known.join(', ')}.`,
  });
}

/**
 * The session with this name. Names may be given twice: one that runs is meant before one that has ended, and where several
 * run the caller has to say which.
 */
export function calledSo<T extends Nameable>(key: string, sessions: readonly T[]): T | undefined {
  const called = sessions.filter(({ name }) => name === key);
  const [live, ...more] = called.filter(({ isLive }) => isLive);
  if (live && more.length > 0) {
    const numbers = [live, ...more].map(({ number }) => number);
    throw new FairleadError('invalid_input', `Several sessions are called ${key}: ${numbers.join(', ')}.`, {
      hint: 'Say which by its number.',
    });
  }
  return live ?? called.at(-1);
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
