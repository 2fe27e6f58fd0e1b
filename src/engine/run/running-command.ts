import type { Emitter } from '../../lib/emitter.ts';
import type { Overflow } from '../reading/long-output/overflow.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { LineAtPrompt } from './deaf.ts';
import type { CommandOrigin } from './interactive.ts';
import type { Known } from './place.ts';
import type { CommandOutcome, Watch } from './result.ts';

/** A command that was typed into a terminal, from then on. */
export interface RunningCommand {
  readonly command: string;
  /** Where the shell worked when it was sent. */
  readonly cwd: string | undefined;
  readonly watch: Watch;
  readonly startedMs: number;
  /** Of the end, and of the moment at which the call was cancelled that waited for it. */
  endedMs: number | undefined;
  cancelledMs: number | undefined;
  readonly origin: CommandOrigin;
  readonly prompt: string;
  /** The command that started the program this one was given to. */
  outer: RunningCommand | undefined;
  /** The newest command given to the program that this one started. */
  inner: RunningCommand | undefined;
  readonly over: Emitter<CommandOutcome>;
  readonly overflow: Overflow;
  ending: CommandOutcome | undefined;
  lastInput: Terminal['input']['last'];
  /** End of the output when a caller was told that it waits for input of its own. */
  toldAt?: number;
  /** For a command that was typed at the prompt of a shell. */
  readonly typed: LineAtPrompt | undefined;
}

export const knownBy = ({ prompt, ending, lastInput }: RunningCommand, terminal: Terminal): Known => ({
  prompt,
  idle: ending !== undefined && lastInput === terminal.input.last,
});

/** A command given to a program that an earlier one started ends, at the latest, when that one does. */
export function nest(current: RunningCommand, before: RunningCommand | undefined): void {
  let outer = before;
  while (outer?.ending !== undefined) outer = outer.outer;
  current.outer = outer;
  if (outer !== undefined) outer.inner = current;
}
