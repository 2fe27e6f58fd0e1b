import type { Ended, Signal, Size } from '../../../engine/terminal/channel.ts';
import type { ByteSource } from '../../../lib/byte-queue.ts';

/** What is asked of the far side's terminal driver. */
export interface PtyRequest {
  readonly term: string;
  readonly size: Size;
}

export type LinkEnd =
  /** We closed it. */
  | { readonly by: 'us' }
  /** It broke, was closed by the server, or stopped answering. */
  | { readonly by: 'lost'; readonly reason: string };

/**
 * Why a channel was refused, in `data.refused` of a `CHANNEL_FAILED`: the server has no room for another one, now;
 * it took the channel and then refused what was asked on it; or it takes no such channel at all.
 */
export type Refused = 'slots' | 'request' | 'kind';

/**
 * One authenticated connection to an SSH server. All that Fairlead does over SSH goes through this interface, so that
 * another implementation (an OpenSSH multiplex proxy) can take the place of ours.
 */
export interface SshLink extends AsyncDisposable {
  /** Settles once, when nothing can be opened on it any more, and never rejects. */
  readonly ended: Promise<LinkEnd>;
  /** How it ended, if it has. */
  readonly end: LinkEnd | undefined;
  /** Starts a command. Rejects with `CHANNEL_FAILED` when the server refuses the channel: `refused` in the error's data. */
  exec(command: string, options: ExecOptions, signal: AbortSignal): Promise<SshProcess>;
  /** Starts the user's login shell on a terminal. */
  shell(pty: PtyRequest, options: Omit<ExecOptions, 'pty'>, signal: AbortSignal): Promise<SshProcess>;
  /** A round trip that needs no channel. Rejects when no answer comes in time. */
  ping(signal: AbortSignal): Promise<void>;
}

export interface ExecOptions {
  readonly pty?: PtyRequest | undefined;
  /** Offered to the server, which takes only the names it allows (AcceptEnv). */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export type StreamName = 'stdout' | 'stderr';

/** Bytes of one stream that came together. */
export interface OutputPart {
  readonly stream: StreamName;
  readonly bytes: Uint8Array;
}

/** Something that runs at the far side of one channel. Read `output`, or else both `stdout` and `stderr`. */
export interface SshProcess extends AsyncDisposable {
  /** Whether its channel is yet to be opened. */
  readonly waiting?: boolean;
  /** Both streams in the order in which their bytes came. Read once, by one reader; a slow one slows the far side. */
  readonly output: AsyncIterable<OutputPart>;
  /** Read once, by one reader; a slow reader slows the far side. A chunk belongs to the reader for good. */
  readonly stdout: ByteSource;
  /** Always read it, or leave it with `return()`: both streams share one window. Empty with a terminal. */
  readonly stderr: ByteSource;
  /** Settles once, after the last byte of both streams was made available, and never rejects. */
  readonly ended: Promise<Ended>;
  /** Resolves when the far side's window took the bytes. Rejects with `terminal_exited` once ended. */
  write(bytes: Uint8Array): Promise<void>;
  /** No more input. */
  end(): void;
  /** Asks the server to signal the command; not every server does. */
  signal(name: Signal): void;
  /** Only with a terminal. */
  resize(size: Size): void;
}

/** A process whose two streams are read only in the order in which their bytes came. */
export type MergedProcess = Omit<SshProcess, 'stdout' | 'stderr'>;
