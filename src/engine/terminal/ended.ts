import { FairleadError } from '../../contract/errors.ts';
import type { Ended } from './channel.ts';
import type { Terminal } from './terminal.ts';

/** What is said of a terminal that is gone, or whose program has ended. */
export function gone(): FairleadError {
  return new FairleadError('terminal_exited', 'Terminal session has been disposed');
}

export function exited(ended: Ended): FairleadError {
  return new FairleadError('terminal_exited', `The program in this terminal ${describeEnd(ended)}.`, {
    hint: 'Its last screen can still be read; open another terminal to continue.',
  });
}

/** Throws when the terminal is gone, or its program has ended. */
export function mustLive({ state, ended }: Terminal): void {
  if (state.isClosing) throw gone();
  if (ended) throw exited(ended);
}

export function describeEnd(ended: Ended): string {
  if (ended.by === 'exit') return `has exited with code ${ended.code}`;
  if (ended.by === 'signal') return `was ended by SIG${ended.signal}`;
  return `cannot be reached any more: ${ended.reason}`;
}
