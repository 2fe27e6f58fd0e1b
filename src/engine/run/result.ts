import type { ProgramPrompt } from '../person/prompts/prompt.ts';
import type { Evidence } from './evidence/evidence.ts';

export type RunState =
  /** The command is over. */
  | 'done'
  /** It was still at it when the time was up, or it waits for input of its own; `follow` goes on waiting. */
  | 'running'
  /** It asks for something that only a person can give. */
  | 'needs_person'
  /** It asks a question that its caller can answer. */
  | 'needs_input'
  /** The shell wanted more text than it got. It was told to forget what it had. */
  | 'incomplete'
  /** The program of the terminal itself is gone. */
  | 'exited'
  /** The shell has not shown its first prompt yet: the command was not typed. */
  | 'starting';

export type Confidence = 'certain' | 'high' | 'medium' | 'low';

export interface RunResult {
  readonly command: string;
  readonly state: RunState;
  /** Null while it is unknown, and if it stays unknown. */
  readonly exitCode: number | null;
  /** The signal that ended the terminal's own process. */
  readonly signal?: string;
  /** What the command printed, as a terminal shows it: no prompt, no echo of the command, long lines whole. */
  readonly output: string;
  /** Where that stands in the log. */
  readonly outputFrom: number;
  readonly outputTo: number;
  /** Bytes at the beginning of the output that are not in `output`: no longer kept, or too many. */
  readonly missedBytes: number;
  /** The beginning of an output that is too long for the log: whole lines, where it has any so early. */
  readonly head?: Uint8Array;
  readonly durationMs: number;
  /** The shell's directory afterwards, or at the start of a running command; absent if unknown. */
  readonly cwd?: string;
  /** What a shell without marks was told to print around the command. */
  readonly marker?: string;
  readonly evidence: Evidence;
  readonly confidence: Confidence;
  /** What it asks, where it needs a person or input. */
  readonly asks?: ProgramPrompt;
  /** What a reader should know, in a sentence or two. */
  readonly note?: string;
}

/** How a command ended, as the one who watched it tells. */
export interface CommandOutcome {
  readonly state: 'done' | 'incomplete' | 'exited';
  readonly exitCode: number | null;
  readonly signal?: string;
  readonly evidence: Evidence;
  readonly confidence: Confidence;
  readonly outputFrom: number;
  readonly outputTo: number;
  /** The output, where it is not simply what lies between the offsets. */
  readonly text?: string;
  readonly note?: string;
}

/** How the command ended that started the program another one was given to: a block, or an ending of ours. */
export interface Outer {
  readonly exitCode: number | null | undefined;
  readonly outputTo: number | undefined;
  readonly evidence?: Evidence;
  readonly confidence?: Confidence;
}

/** Watches one command from its submission to its end. */
export interface Watch extends Disposable {
  /** Settles once; rejects when the command could not be sent. */
  readonly ended: Promise<CommandOutcome>;
  /** The command has begun to run. */
  readonly started: Promise<void>;
  /** Where its output begins, as far as known. */
  readonly outputFrom: number;
  /** The command that started the shell this one runs in is over, and so is this one. */
  readonly outerEnded?: (outer: Outer) => void;
  /** The output up to now, where it is not simply what lies after `outputFrom`. */
  readonly textSoFar?: () => string | undefined;
  /** Lines of output with this word are ours, not the command's: a shell that traces shows what it was told to print. */
  readonly omit?: string;
}
