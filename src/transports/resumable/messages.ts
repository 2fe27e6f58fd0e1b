import type { Ended, Signal, Size } from '../../engine/terminal/channel.ts';

/** The JSON bodies of a channel's frames. Fields are only ever added: either side may be the older one. */
export type Resize = Size;

export interface Kill {
  readonly signal: Signal;
}

export interface Terminate {
  /** Milliseconds between TERM and KILL; without it, as few as when the server ends. */
  readonly graceMs?: number;
}

export interface Exit {
  readonly ended: Ended;
  /** In ms since the epoch. */
  readonly at: number;
}

/**
 * The far side sends at most this much output ahead of what the channel acknowledged, and half a ring; then the program waits. The
 * channel acknowledges at least every `ackBytes`. Both numbers are part of the protocol.
 */
export const windowBytes = 512 << 10;
export const ackBytes = 64 << 10;

export const encode = (message: object): Buffer => Buffer.from(JSON.stringify(message));

/** Undefined if the body is not a JSON object. */
export function decode<T extends object>(body: Uint8Array): Partial<T> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Partial<T>) : undefined;
  } catch {
    return undefined;
  }
}

/** The part of these bytes, the first at `from`, that a side which has everything before `have` lacks; undefined if none. */
export function unseen(bytes: Uint8Array, from: number, have: number): Uint8Array | undefined {
  if (from + bytes.length <= have) return undefined;
  return from >= have ? bytes : bytes.subarray(have - from);
}
