import type { SimpleCommand } from './shell-words.ts';
import type { Word } from './word.ts';

/** A command under judgement, and what a judge of its program can report. */
export interface CommandLook {
  readonly name: string;
  readonly args: readonly Word[];
  readonly command: SimpleCommand;
  readonly feeds: boolean;
  readonly problem: (reason: string) => void;
  /** Counts the command itself. `told`: its words that it may run as a program. */
  readonly add: (wrapper: boolean, told?: readonly Word[]) => void;
  /** The command changes a variable that decides where programs are found. */
  readonly place: (name: string) => void;
  /** Words that are a command. */
  readonly inner: (words: readonly Word[]) => void;
  /** Text that a shell is told to run. */
  readonly text: (line: string) => void;
  /** The same for a word, whose value must be known. */
  readonly spoken: (word: Word | undefined) => void;
}

export const joined = (words: readonly Word[]): Word | undefined =>
  words.length === 0
    ? undefined
    : { text: words.map(({ text }) => text).join(' '), dynamic: words.some(({ dynamic }) => dynamic) };
