import { randomBytes } from 'node:crypto';
import { FairleadError } from '../contract/errors.ts';

/** Writes one line to the server's log. */
export type Log = (line: string) => void;

/**
 * An unexpected failure as the caller's error: an incident number, under which the log has the stack. Neither repeats the
 * original message, because it may quote the call's input.
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
