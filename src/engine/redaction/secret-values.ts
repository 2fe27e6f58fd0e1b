import { keyValues } from './key-value.ts';

const shortest = 8;

/** Values of variables with a secret's name that can be told from ordinary text, wherever they turn up. */
export function secretValues(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(variables).flatMap(([name, value = '']) => {
    const lines = value.split(/\r?\n/).map((line) => line.trim());
    const told = lines.filter((line) => isTold(line) && keyValues(`${name}=${line}`).length > 0);
    return told.filter((line) => !line.startsWith('-----'));
  });
}

/** `postgres` is a password somewhere, and a word everywhere; a path or an address is no secret as a whole. */
function isTold(value: string): boolean {
  if (value.length < shortest || /^[~.]{0,2}\/|:\/\//.test(value)) return false;
  return !/^(?:[a-z]+|[A-Z]+|[A-Z]?[a-z]+|[0-9.]+|[a-z]+(?:[-_. ][a-z]+)*)$/.test(value);
}
