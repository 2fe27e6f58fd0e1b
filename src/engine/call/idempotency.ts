import { createHmac, randomBytes } from 'node:crypto';
import { remoteError } from '../../contract/remote-errors.ts';
import type { Clock } from '../../lib/clock.ts';

export interface IdempotencyLimits {
  /** How long an answer is kept, from the end of its call. */
  readonly ttlMs: number;
  /** Answers kept at one time; the oldest goes first. */
  readonly maxEntries: number;
}

export const defaultIdempotency: IdempotencyLimits = { ttlMs: 300_000, maxEntries: 1024 };

/** What makes two calls the same one. */
export interface CallKey {
  /** As the caller sent it; faults are found here. */
  readonly value: unknown;
  /** The key was not chosen as an idempotency key, so other arguments mean another call and no error. */
  readonly implied?: boolean;
}

export interface KeyedCall {
  readonly principal: string;
  readonly operation: string;
  readonly key: CallKey;
  /** Only its digest is kept: it may hold secrets. */
  readonly input: unknown;
}

const maxKeyBytes = 256;

/** Answers may be large; together they never take more than this many characters. */
const maxCharacters = 64 << 20;

interface Running {
  readonly digest: string;
  readonly work: Promise<unknown>;
  /** Ends the work when the last of those who wait for it has gone. */
  readonly stop: AbortController;
  waiting: number;
}

interface Kept {
  readonly digest: string;
  readonly output: unknown;
  readonly characters: number;
  readonly until: number;
}

/**
 * Calls that are done once, however often they arrive: a client that lost an answer asks again with the same key and gets
 * the same answer. Only answers are kept, never errors, and never what was asked (docs/decisions/0010).
 */
export class Idempotency implements Disposable {
  readonly #clock: Clock;
  readonly #limits: IdempotencyLimits;
  readonly #running = new Map<string, Running>();
  /** Oldest first. */
  readonly #kept = new Map<string, Kept>();
  /** A digest alone must not let a short secret be guessed. */
  readonly #secret = randomBytes(32);
  #characters = 0;
  #timer: Disposable | undefined;

  constructor(clock: Clock, limits: IdempotencyLimits = defaultIdempotency) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** How many answers are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * The answer of an earlier call with this key, that of one under way, or else that of `run`. The signal of a caller ends
   * its own wait; the work is aborted when its last waiter leaves.
   */
  async once<T>(call: KeyedCall, run: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { principal, operation, key, input } = call;
    const value = checkKey(key.value);
    if (value === undefined) return await run(signal);
    const implied = key.implied === true;
    const slot = JSON.stringify([principal, operation, value, implied]);
    const digest = this.#digest(input);
    for (;;) {
      this.#forget(this.#clock.monotonic());
      const kept = this.#kept.get(slot);
      const running = this.#running.get(slot);
      const same = kept ?? running;
      if (same !== undefined && same.digest !== digest) {
        if (implied) return await run(signal);
        throw mismatch();
      }
      if (kept !== undefined) return kept.output as T;
      if (running === undefined) return (await wait(this.#start(slot, digest, run), signal)) as T;
      try {
        return (await wait(running, signal)) as T;
      } catch (failure) {
        // The failure belongs to who started it. One of those who waited runs it again, in its own name.
        if (signal.aborted) throw failure;
      }
    }
  }

  #start(slot: string, digest: string, run: (signal: AbortSignal) => Promise<unknown>): Running {
    const stop = new AbortController();
    // Begins a moment later, when it is in the table it must leave again.
    const work = Promise.resolve().then(async () => {
      try {
        const output = await run(stop.signal);
        this.#keep(slot, digest, output);
        return output;
      } finally {
        this.#running.delete(slot);
      }
    });
    const running: Running = { digest, work, stop, waiting: 0 };
    this.#running.set(slot, running);
    return running;
  }

  #keep(slot: string, digest: string, output: unknown): void {
    const characters = lengthOf(output);
    if (characters > maxCharacters) return;
    this.#kept.set(slot, { digest, output, characters, until: this.#clock.monotonic() + this.#limits.ttlMs });
    this.#characters += characters;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#limits.maxEntries && this.#characters <= maxCharacters) break;
      this.#drop(oldest);
    }
    this.#watch();
  }

  #forget(now: number): void {
    for (const [slot, { until }] of this.#kept) {
      if (until > now) break;
      this.#drop(slot);
    }
  }

  #drop(slot: string): void {
    this.#characters -= this.#kept.get(slot)?.characters ?? 0;
    this.#kept.delete(slot);
  }

  /** Answers expire by a timer, not at the next call: they may be large and private. */
  #watch(): void {
    if (this.#timer !== undefined) return;
    const [oldest] = this.#kept.values();
    if (oldest === undefined) return;
    this.#timer = this.#clock.after(oldest.until - this.#clock.monotonic(), () => {
      this.#timer = undefined;
      this.#forget(this.#clock.monotonic());
      this.#watch();
    });
  }

  #digest(input: unknown): string {
    return createHmac('sha256', this.#secret).update(canonicalJson(input)).digest('base64');
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#kept.clear();
    this.#characters = 0;
  }
}

/** Waits for work that may be shared. The last waiter to leave aborts it and awaits its end. */
function wait(running: Running, signal: AbortSignal): Promise<unknown> {
  running.waiting += 1;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      running.waiting -= 1;
      if (running.waiting === 0) running.stop.abort(signal.reason);
      else reject(signal.reason as Error);
    };
    const done = (): void => signal.removeEventListener('abort', leave);
    running.work.then(resolve, reject).finally(done);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}

function checkKey(key: unknown): string | undefined {
  if (key === undefined || key === '') return undefined;
  if (typeof key !== 'string') throw remoteError('INVALID_ARGUMENT', '_meta.idempotency_key: must be a string');
  const bytes = Buffer.byteLength(key);
  if (bytes <= maxKeyBytes) return key;
  throw remoteError('IDEMPOTENCY_KEY_TOO_LONG', `The idempotency key has ${bytes} bytes`, {
    context: `limit=${maxKeyBytes}`,
  });
}

const mismatch = () =>
  remoteError('IDEMPOTENCY_KEY_MISMATCH', 'This idempotency key was used for a call with other arguments');

/** JSON with the keys of every object sorted, so that the order in which a client writes them does not matter. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, one]) => `${JSON.stringify(name)}:${canonicalJson(one)}`).join(',')}}`;
}

/** About how much memory an answer takes, in characters. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 16;
  if (typeof value !== 'object' || value === null) return 16;
  let length = 16;
  for (const [name, one] of Object.entries(value)) length += name.length + lengthOf(one);
  return length;
}
