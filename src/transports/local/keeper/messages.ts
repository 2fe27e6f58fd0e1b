import type { Ended } from '../../../engine/terminal/channel.ts';
import type { Resize } from '../../resumable/messages.ts';

/** What frames with a JSON body say. Fields are only ever added: both sides may be older than the other. */
export interface Hello {
  readonly version: number;
  readonly pid: number;
  /** What the terminals were read up to, for a client that comes back. */
  readonly wanted?: Readonly<Record<string, number>>;
  /** It can read terminals itself. */
  readonly direct?: boolean;
  /** This connection is the second one of the client that was given it, and for descriptors only. */
  readonly ticket?: string;
}

/** Comes after the `meta` and `snapshot` frames of all terminals, so that nothing is missing when it is there. */
export interface Welcome {
  readonly version: number;
  readonly pid: number;
  /** With the pid it names one process for ever. */
  readonly startTime: number;
  readonly terminals: readonly Listed[];
  /** Where the keeper can lend terminals: with it the client brings the connection for their descriptors. */
  readonly ticket?: string;
}

export interface Leased {
  /** Comes with the descriptors, too. */
  readonly number: number;
  /** As long as the shared memory says the same, it is lent. */
  readonly epoch: number;
  /** How many times the client had said what to conceal: if it has since, the terminal is not for it to read. */
  readonly conceals: number;
}

export interface Returned {
  /** It could not be used: it is not to be lent again. */
  readonly refused?: boolean;
}

export interface Listed extends Spawned {
  readonly id: string;
  readonly cols: number;
  readonly rows: number;
  /** Offsets of the oldest byte kept and of the next to come. */
  readonly start: number;
  readonly end: number;
  readonly capacity: number;
  /** Where input goes on: for a client that comes back behind what was accepted, for a new one behind what waits, too. */
  readonly input: number;
  /** How many bytes were typed, with those that wait. */
  readonly queued?: number;
  /** Up to here an instance has had the output: what programs asked before was answered. */
  readonly seen?: number;
  readonly folder?: string;
  readonly about?: Readonly<Record<string, string>>;
  readonly ended?: Ended;
  readonly endedAt?: number;
}

export interface KeeperRefused {
  readonly reason: 'busy' | 'version';
  /** Who has it, where somebody has. */
  readonly pid?: number;
  /** It lives and says nothing, but has terminals lent to it. */
  readonly silent?: boolean;
}

export interface Spawn {
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  /** How many bytes of output to keep at most. */
  readonly capacity?: number;
  readonly umask?: number;
  /** Files of this terminal alone, removed when its program has ended. */
  readonly folder?: string;
  /** For the instance that finds it: the keeper only repeats it. */
  readonly about?: Readonly<Record<string, string>>;
}

export interface Spawned {
  readonly pid: number;
  readonly startTime: number;
  /** The device, for those who look at it from outside. */
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
  /** The command line of the new keeper, without the arguments that name its place. */
  readonly argv: readonly [string, ...string[]];
}
