import type { Ended, Signal } from '../../../engine/terminal/channel.ts';

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

export interface Resize {
  readonly cols: number;
  readonly rows: number;
  /** Whoever says so has the terminal and has done it: the keeper only remembers. */
  readonly done?: boolean;
}

export interface Kill {
  readonly signal: Signal;
}

export interface Terminate {
  /** How long after TERM it is killed; left out: as quickly as when its server ends. */
  readonly graceMs?: number;
}

export interface Exit {
  readonly ended: Ended;
  readonly at: number;
}

export interface Replace {
  /** The command line of the new keeper, without the arguments that name its place. */
  readonly argv: readonly [string, ...string[]];
}

/**
 * Output an instance may have before it has taken in what came before: beyond it the program waits. At most half a ring. An
 * instance says how far it is at least this often; both numbers are part of the protocol.
 */
export const windowBytes = 512 << 10;
export const ackBytes = 64 << 10;

export const encode = (message: object): Buffer => Buffer.from(JSON.stringify(message));

/** Undefined when it is not an object in JSON: whoever asks decides what that means. */
export function decode<T extends object>(body: Uint8Array): Partial<T> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Partial<T>) : undefined;
  } catch {
    return undefined;
  }
}
