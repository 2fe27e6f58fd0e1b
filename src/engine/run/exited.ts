import type { Ended } from '../channel.ts';
import { describeEnd } from '../ended-words.ts';
import type { Terminal } from '../terminal.ts';
import type { Ending } from './result.ts';

/** The program of the terminal is gone, and took the command with it or was the command. */
export function exited(ended: Ended, outputFrom: number, outputTo: number): Ending {
  return {
    state: 'exited',
    exitCode: ended.by === 'exit' ? ended.code : null,
    ...(ended.by === 'signal' ? { signal: ended.signal } : {}),
    evidence: ended.by === 'lost' ? 'none' : 'child',
    confidence: ended.by === 'lost' ? 'low' : 'certain',
    outputFrom,
    outputTo,
    note: `The program of this terminal ${describeEnd(ended)}.`,
  };
}

/** Unlike a promise it can be told to forget: a terminal outlives thousands of commands. */
export function whenExited(terminal: Terminal, listener: (ended: Ended) => void): Disposable {
  return terminal.stateChanged.on(() => {
    if (terminal.ended) listener(terminal.ended);
  });
}
