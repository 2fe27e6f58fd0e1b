import type { Ended } from '../../../engine/terminal/channel.ts';
import type { Resize } from '../../resumable/messages.ts';

/** What frames with a JSON body say. Fields are only ever added: both sides may be older than the other. */
export interface Hello {
  readonly version: number;
  readonly pid: number;
  /** Offsets from which a client that reconnects wants the output. */
  readonly wanted?: Readonly<Record<string, number>>;
  /** The client wants to lease terminals. */
  readonly direct?: boolean;
  /** From the welcome: this is that client's second connection, for descriptors only. */
  readonly ticket?: string;
}

/** Comes after the `meta` and `snapshot` frames of all terminals. */
export interface Welcome {
  readonly version: number;
  readonly pid: number;
  /** Pids are reused: together with this they name one process. */
  readonly startTime: number;
  readonly terminals: readonly Listed[];
  /** Where the keeper leases terminals: the client presents it on its second connection. */
  readonly ticket?: string | undefined;
}

export interface Leased {
  /** The descriptors carry the same number. */
  readonly number: number;
  /** The lease lasts as long as the shared memory has the same epoch. */
  readonly epoch: number;
  /** Secrets that the client had sent by then: if it has sent more since, it returns the lease. */
  readonly conceals: number;
}

export interface Returned {
  /** The descriptors could not be used: the keeper does not lease this terminal again. */
  readonly refused?: boolean;
}

export interface Listed extends Spawned {
  readonly id: string;
  readonly cols: number;
  readonly rows: number;
  /** Offsets of the oldest byte in the log and of the next one. */
  readonly start: number;
  readonly end: number;
  readonly capacity: number;
  /** Position of the next input: after what was accepted for a client that reconnects, after what waits for a new one. */
  readonly input: number;
  /** Bytes of input, accepted or waiting. */
  readonly queued?: number;
  /** An instance has had the output before this offset, and answered the terminal queries in it. */
  readonly seen?: number;
  readonly folder?: string | undefined;
  readonly about?: Readonly<Record<string, string>> | undefined;
  readonly ended?: Ended | undefined;
  readonly endedAt?: number | undefined;
}

export interface KeeperRefused {
  readonly reason: 'busy' | 'version';
  /** The process of the present client. */
  readonly pid?: number;
  /** That process does not answer, but leases terminals. */
  readonly silent?: boolean;
}

export interface Spawn {
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  /** Bytes of output in the log, at most. */
  readonly capacity?: number;
  readonly umask?: number;
  /** Files of this terminal, removed when its program has ended. */
  readonly folder?: string;
  /** For the instance that resumes the terminal; the keeper does not interpret it. */
  readonly about?: Readonly<Record<string, string>>;
}

export interface Spawned {
  readonly pid: number;
  readonly startTime: number;
  /** Path of the device. */
  readonly terminal: string;
}

export interface Failed {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface KeeperResize extends Resize {
  /** The client leases the terminal and has resized it: the keeper only records the size. */
  readonly done?: boolean;
}

export interface Replace {
  /** The command line of the new keeper, without the paths of its socket and lock. */
  readonly argv: readonly [string, ...string[]];
}
