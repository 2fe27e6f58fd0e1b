import type { PeopleEvent } from './people.ts';
import type { LogRead } from '../terminal/output-log.ts';
import type { Ended, Size } from '../terminal/channel.ts';

type CommandEvent =
  | { readonly phase: 'start'; readonly command: string | undefined }
  | {
      readonly phase: 'end';
      readonly command: string | undefined;
      readonly exitCode: number | undefined;
      /** Milliseconds since the epoch. */
      readonly startedAt: number;
      readonly endedAt: number;
    };

/** What the shell said at this offset of the output: a prompt, the line typed at it, the command's output, its end. */
export type BlockMark =
  | { readonly kind: 'prompt' | 'input'; readonly at: number }
  /** `command`: as far as it is known when its output begins. */
  | { readonly kind: 'output'; readonly at: number; readonly command: string | undefined }
  /** `command`: if only known now. */
  | {
      readonly kind: 'exit';
      readonly at: number;
      readonly exitCode: number | undefined;
      readonly command?: string | undefined;
    };

/** A mark of output that was received before, with its time in milliseconds since the epoch if that is known. */
export type PastMark = BlockMark & { readonly time?: number | undefined };

/** Output that was received before now. */
export interface PastOutput {
  readonly from: number;
  readonly bytes: Uint8Array;
  /** How many of the bytes asked for are gone. */
  readonly missed: number;
  /** The marks in it, in order. */
  readonly marks: readonly PastMark[];
}

/** A terminal at the moment in which a recording begins. */
export interface FirstFrame {
  /** Escape text that reproduces the screen. */
  readonly screen: string;
  /** Received bytes of an incomplete sequence or character; later output continues them. */
  readonly pending: Uint8Array;
}

/** What can be recorded. Times are of the clock that the recorder is given, monotonic. */
export interface RecordingSource {
  readonly id: string;
  readonly size: Size;
  /** Path or name of what runs in it. */
  readonly program: string;
  /** Settles after the last output was handed to the listeners. Never rejects. */
  readonly ended: Promise<Ended>;
  /** The session was closed on purpose: the kill that followed is no failure. */
  readonly isClosed: boolean;
  /** Where it works; `isHere` if that is a directory of this machine. */
  readonly place: { readonly cwd: string | undefined; readonly isHere: boolean };
  readonly title: string;
  /** A full-screen program has the screen. */
  readonly isAlternate: boolean;
  /** The offset of the next byte of output. */
  readonly end: number;
  /** Output from now on, `from` this offset; the bytes are valid only during the call. */
  onOutput(listener: (bytes: Uint8Array, atMs: number, from: number) => void): Disposable;
  /** What the log still has of the output between two offsets. */
  read(from: number, to?: number): LogRead;
  /** `echo` is false while the program reads without echo, undefined when that cannot be known. */
  onInput(listener: (bytes: Uint8Array, echo: boolean | undefined, atMs: number) => void): Disposable;
  /** Who types, and when the terminal waits for a person. `atMs`: left out, now. */
  onPeople(listener: (event: PeopleEvent, atMs?: number) => void): Disposable;
  onResize(listener: (size: Size) => void): Disposable;
  onTitle(listener: (title: string) => void): Disposable;
  /** Marks in the output that comes next: each before the bytes it stands in. */
  onMark(listener: (mark: BlockMark) => void): Disposable;
  /** Where the shell is now: the mark that would tell it. Undefined if it has not said. */
  markNow(): BlockMark | undefined;
  /** What was received from this offset on, as far as it is kept. */
  past(from: number): PastOutput;
  onCommand(listener: (event: CommandEvent) => void): Disposable;
  /** Settles in the turn in which the screen was read: a listener added right after the await misses and repeats nothing. */
  snapshot(signal: AbortSignal): Promise<FirstFrame>;
}
