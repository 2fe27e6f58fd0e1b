import { FairleadError } from '../../contract/errors.ts';
import { deferred } from '../../lib/deferred.ts';
import { abortable } from '../../system/abortable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { timings } from './timings.ts';

const { commandEndMs } = timings.keyboardLease;

/** Does something the moment that the running command ends, before anyone can type the next; at once if none runs. */
export async function whenCommandEnds<T>(terminal: Terminal, act: () => T, signal: AbortSignal): Promise<T> {
  if (terminal.state.current !== 'running' || terminal.ended) return act();
  const ended = deferred<T>();
  let isOver = false;
  const check = (isEnd: boolean): void => {
    if (isOver || !isEnd) return;
    isOver = true;
    if (terminal.ended) ended.reject(gone());
    else ended.resolve(act());
  };
  using _block = terminal.blocks.events.on(({ type }) => check(type === 'ended'));
  // A program that asks for a password has not ended, but it needs the person who waits here.
  using _state = terminal.state.changed.on((state) => check(state !== 'running'));
  using _limit = terminal.clock.after(commandEndMs, () => ended.reject(stillRuns()));
  return await abortable(ended.promise, signal);
}

const gone = (): FairleadError =>
  new FairleadError('terminal_exited', 'The terminal has ended before its command told so.', {
    hint: 'Its last screen can still be read.',
  });

const stillRuns = (): FairleadError =>
  new FairleadError('timeout', 'The command still runs after an hour. You do not have the keyboard.', {
    hint: 'Ask again, or take it over now.',
  });
