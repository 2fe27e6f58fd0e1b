import { FairleadError } from '../../contract/errors.ts';
import { deferred } from '../../lib/deferred.ts';

/** Pieces small enough that an interrupt never waits behind more than one of them. */
const pieceBytes = 4096;

const nothing = (): void => {};

/** What one sender gives the queue at once: bytes, or a turn of its own. */
interface Body {
  readonly size: number;
  readonly work: (body: Body) => Promise<void>;
  /** Told when it is stopped in the middle. */
  readonly onStop: (error: FairleadError) => void;
  readonly resolve: () => void;
  readonly reject: (error: FairleadError) => void;
  stopped: FairleadError | undefined;
}

interface InputQueueOptions {
  /** Resolves when the far side accepted the bytes. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Bytes that may wait their turn. Beyond it a send is refused, so that a stuck far side cannot fill memory. */
  readonly maxPendingBytes: number;
}

type Begin = () => () => void;

/** The input of a terminal, for one sender only. */
export interface InputLane {
  write(bytes: Uint8Array): Promise<void>;
  /** Aborted when the turn is over before its work is: by its caller, by Ctrl-C, by the end of the terminal. */
  readonly signal: AbortSignal;
  /** Why it is over; nothing while it is not. */
  readonly over: FairleadError | undefined;
}

class Turn implements InputLane {
  readonly write: InputLane['write'];
  readonly #body: Body;
  /** Made when it is asked for: most turns are over by then. */
  #stopping: AbortController | undefined;

  constructor(body: Body, write: InputLane['write']) {
    this.#body = body;
    this.write = write;
  }

  get signal(): AbortSignal {
    this.#stopping ??= new AbortController();
    if (this.#body.stopped) this.#stopping.abort(this.#body.stopped);
    return this.#stopping.signal;
  }

  get over(): FairleadError | undefined {
    return this.#body.stopped;
  }

  stop(error: FairleadError): void {
    this.#stopping?.abort(error);
  }
}

/**
 * One writer at a time. A body arrives contiguous and whole, or its sender is told how much of it did. An interrupt
 * overtakes everything that waits, as Ctrl-C flushes the input of a real terminal.
 */
export class InputQueue {
  readonly #options: InputQueueOptions;
  readonly #waiting: Body[] = [];
  #pendingBytes = 0;
  #current: Body | undefined;
  #closed: FairleadError | undefined;
  /** The loop that writes; owned here, ends when nothing waits. */
  #writing: Promise<void> = Promise.resolve();

  constructor(options: InputQueueOptions) {
    this.#options = options;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** `begin`: called when its turn has come. What it throws refuses the bytes; what it answers is called when they have arrived. */
  async send(bytes: Uint8Array, signal: AbortSignal, begin: Begin = () => nothing): Promise<void> {
    await this.#enqueue(
      bytes.length,
      async (body) => {
        const arrived = begin();
        await this.#pieces(body, bytes);
        arrived();
      },
      signal,
      nothing,
    );
  }

  /** Other senders wait while `work` runs, pauses included. `size` counts as pending until it is done. */
  async turn<T>(size: number, work: (lane: InputLane) => Promise<T>, signal: AbortSignal): Promise<T> {
    const result = deferred<T>();
    let lane: Turn | undefined;
    const run = async (body: Body): Promise<void> => {
      lane = new Turn(body, (bytes) => this.#pieces(body, bytes));
      result.resolve(await work(lane));
    };
    await this.#enqueue(size, run, signal, (error) => lane?.stop(error));
    return result.promise;
  }

  /** Drops what waits, then sends `bytes` (Ctrl-C) behind no more than the piece under way. */
  async interrupt(bytes: Uint8Array, signal: AbortSignal, begin?: Begin): Promise<void> {
    for (const body of [this.#current, ...this.#waiting]) if (body) this.#stop(body, interrupted);
    await this.send(bytes, signal, begin);
  }

  async #enqueue(size: number, work: Body['work'], signal: AbortSignal, onStop: Body['onStop']): Promise<void> {
    this.mustBeOpen();
    if (signal.aborted) throw cancelled(0, size);
    if (this.#pendingBytes + size > this.#options.maxPendingBytes) {
      throw new FairleadError('limit_reached', 'The program in the terminal is not reading its input.', {
        hint: 'Interrupt it with Ctrl+C, or wait until it reads again.',
        data: { pendingBytes: this.#pendingBytes },
      });
    }
    const { promise, resolve, reject } = deferred();
    const body: Body = { size, work, onStop, resolve, reject, stopped: undefined };
    const stop = (): void => this.#stop(body, cancelled);
    this.#waiting.push(body);
    this.#pendingBytes += size;
    this.#start();
    // After the first write, which is all most bodies need: the program has something to do meanwhile.
    signal.addEventListener('abort', stop, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  mustBeOpen(): void {
    if (this.#closed) throw this.#closed;
  }

  /** Rejects everything queued; later sends are rejected with the latest reason. */
  close(error: FairleadError): void {
    this.#closed = error;
    for (const body of this.#waiting.splice(0)) this.#finish(body, error);
    if (this.#current && !this.#current.stopped) this.#cut(this.#current, error);
  }

  #start(): void {
    if (this.#current) return;
    const body = this.#waiting.shift();
    if (!body) return;
    this.#current = body;
    this.#writing = this.#write(body);
  }

  async #write(body: Body): Promise<void> {
    let error: FairleadError | undefined;
    try {
      await body.work(body);
      error = body.stopped;
    } catch (thrown) {
      error =
        body.stopped ??
        (thrown instanceof FairleadError
          ? thrown
          : new FairleadError('terminal_exited', 'The terminal no longer takes input.', { cause: thrown }));
    }
    this.#current = undefined;
    this.#finish(body, error);
    this.#start();
  }

  async #pieces(body: Body, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !body.stopped; at += pieceBytes) {
      await this.#options.write(bytes.subarray(at, at + pieceBytes));
    }
    if (body.stopped) throw body.stopped;
  }

  /** Waits for a write under way, so that its owner can end after it. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  #stop(body: Body, why: (sent: number, total: number) => FairleadError): void {
    const place = this.#waiting.indexOf(body);
    if (place >= 0) {
      this.#waiting.splice(place, 1);
      this.#finish(body, why(0, body.size));
    } else if (this.#current === body && !body.stopped) {
      this.#cut(body, why(-1, body.size));
    }
  }

  #cut(body: Body, error: FairleadError): void {
    body.stopped = error;
    // The sender need not wait for a far side that does not read.
    body.reject(error);
    body.onStop(error);
  }

  #finish(body: Body, error: FairleadError | undefined): void {
    this.#pendingBytes -= body.size;
    if (error) body.reject(error);
    else body.resolve();
  }
}

function cancelled(sent: number, total: number): FairleadError {
  return new FairleadError('cancelled', `The call was cancelled; ${amount(sent, total)} typed.`);
}

function interrupted(sent: number, total: number): FairleadError {
  return new FairleadError('cancelled', `Overtaken by Ctrl+C; ${amount(sent, total)} typed.`, {
    hint: 'Look at the screen before typing again.',
  });
}

function amount(sent: number, total: number): string {
  return sent === 0 ? `nothing of ${total} bytes was` : `only a part of ${total} bytes was`;
}
