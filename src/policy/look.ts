import type { SimpleCommand } from './shell-words.ts';
import type { Word } from './word.ts';

/** A command while its program is looked at, and what may be done about it. */
export interface CommandLook {
  readonly name: string;
  readonly args: readonly Word[];
  readonly command: SimpleCommand;
  readonly feeds: boolean;
  readonly problem: (reason: string) => void;
  /** Counts the command itself. `told`: words of it that may be a program it runs, for all anybody knows here. */
  readonly add: (wrapper: boolean, told?: readonly Word[]) => void;
  /** A variable that decides where programs are looked for is given another value. */
  readonly place: (name: string) => void;
  /** Words that are a command. */
  readonly inner: (words: readonly Word[]) => void;
  /** Text that a shell is told to run. */
  readonly text: (line: string) => void;
  /** The same in a word, which must be known. */
  readonly spoken: (word: Word | undefined) => void;
}

export const joined = (words: readonly Word[]): Word | undefined =>
  words.length === 0
    ? undefined
    : { text: words.map(({ text }) => text).join(' '), dynamic: words.some(({ dynamic }) => dynamic) };
