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
  /** Output from now on; the bytes are valid only during the call. */
  onOutput(listener: (bytes: Uint8Array, atMs: number) => void): Disposable;
  /** `echo` is false while the program reads without echo, undefined when that cannot be known. */
  onInput(listener: (bytes: Uint8Array, echo: boolean | undefined, atMs: number) => void): Disposable;
  onResize(listener: (size: Size) => void): Disposable;
  onCommand(listener: (event: CommandEvent) => void): Disposable;
  /** Settles in the turn in which the screen was read: a listener added right after the await misses and repeats nothing. */
  snapshot(signal: AbortSignal): Promise<FirstFrame>;
}
