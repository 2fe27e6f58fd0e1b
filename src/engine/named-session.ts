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
