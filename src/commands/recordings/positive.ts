import { UsageError } from '../../faces/cli/args.ts';

/** The positive number given to an option. */
export function positive(value: string | readonly string[], name: string, least = 0.01): number {
  const number = Number(value);
  if (Number.isFinite(number) && number >= least && String(value).trim() !== '') return number;
  throw new UsageError(`${name}: ${JSON.stringify(value)} is not a number of at least ${least}.`);
}
