import { randomBytes } from 'node:crypto';
import { FairleadError } from '../contract/errors.ts';

/** Takes one line for whoever looks after the server. */
export type Log = (line: string) => void;

/**
 * Something nobody foresaw, as the error its caller gets: a number, under which the log says where it happened. Neither
 * says what the error says, because that may quote what the call was given.
 */
export function incident(thrown: unknown, where: string, log: Log | undefined): FairleadError {
  const id = randomBytes(4).toString('hex');
  log?.(`incident ${id} in ${where}: ${describe(thrown)}`);
  return new FairleadError('internal', 'Something went wrong inside Fairlead; the terminals are unharmed.', {
    hint: `Try once more; if it happens again, report it with the line of the server's log about incident ${id}.`,
    data: { incident: id },
    cause: thrown,
  });
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const { code } = thrown as NodeJS.ErrnoException;
  const frames = (thrown.stack ?? '').split('\n').filter((line) => /^ +at /.test(line));
  return [thrown.name, ...(code === undefined ? [] : [`(${code})`]), ...frames.slice(0, 3).map((at) => at.trim())].join(
    ' ',
  );
}
