import type { Ended } from '../../terminal/channel.ts';
import { describeEnd } from '../../terminal/ended.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { CommandOutcome, Outer } from '../result.ts';

/** The program of the terminal is gone, and took the command with it or was the command. */
export function endedByExit(ended: Ended, outputFrom: number, outputTo: number): CommandOutcome {
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

/** The program it ran in ended, and it with that: it went as the command went that started the program. */
export const endedWith = (outer: Outer, outputFrom: number, outputTo: number): CommandOutcome => ({
  state: 'done',
  exitCode: outer.exitCode ?? null,
  evidence: outer.evidence ?? 'mark',
  confidence: outer.confidence ?? 'certain',
  outputFrom,
  outputTo,
});

/** Unlike a promise it can be told to forget: a terminal outlives thousands of commands. */
export function whenExited(terminal: Terminal, listener: (ended: Ended) => void): Disposable {
  return terminal.state.changed.on(() => {
    if (terminal.ended) listener(terminal.ended);
  });
}
