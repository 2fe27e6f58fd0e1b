import type { Ended, Signal, Size } from '../../../engine/terminal/channel.ts';
import { FairleadError } from '../../../contract/errors.ts';
import { remoteCode } from '../../../contract/remote-errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { deferred } from '../../../lib/deferred.ts';
import type { MergedProcess, OutputPart, SshProcess } from './link.ts';

/** Opens a channel; `queued` is called when none is free. */
export type OpenProcess = (signal: AbortSignal, queued: () => void) => Promise<SshProcess>;

/** How long a server may take over its answer before the caller gets its own. */
const atOnceMs = 1_000;

/**
 * A process at once: the real one where the server opens its channel right away, otherwise one that stands for it and
 * waits. What the server refuses right away is refused here, too. The signal ends the wait for this answer only.
 */
export async function startedAtOnce(open: OpenProcess, clock: Clock, signal: AbortSignal): Promise<MergedProcess> {
  const stop = new AbortController();
  const hangUp = (): void => stop.abort(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', hangUp, { once: true });
  const late = deferred<undefined>();
  const limit = clock.after(atOnceMs, () => late.resolve(undefined));
  try {
    const opening = open(stop.signal, () => late.resolve(undefined));
    return (await Promise.race([opening, late.promise])) ?? new LateProcess(opening, stop);
  } finally {
    limit[Symbol.dispose]();
    signal.removeEventListener('abort', hangUp);
  }
}

/** A process whose channel is yet to be opened. To signal or close it before that takes it out of the queue. */
class LateProcess implements MergedProcess {
  readonly ended: Promise<Ended>;
  readonly #opening: Promise<SshProcess | undefined>;
  readonly #stop: AbortController;
  #process: SshProcess | undefined;
  #over = false;
  #inputClosed = false;

  constructor(opening: Promise<SshProcess>, stop: AbortController) {
    this.#stop = stop;
    let why = '';
    this.#opening = opening.then(
      (process) => {
        this.#process = process;
        if (this.#inputClosed) process.end();
        return process;
      },
      (error: unknown) => {
        this.#over = true;
        why = reasonOf(error);
        return undefined;
      },
    );
    this.ended = this.#opening.then((process) => process?.ended ?? { by: 'lost', reason: why });
  }

  get waiting(): boolean {
    return this.#process === undefined && !this.#over;
  }

  get output(): AsyncIterable<OutputPart> {
    return this.#later();
  }

  async write(bytes: Uint8Array): Promise<void> {
    const process = await this.#opening;
    if (process === undefined) throw new FairleadError('terminal_exited', 'The far side has ended.');
    await process.write(bytes);
  }

  end(): void {
    this.#inputClosed = true;
    this.#process?.end();
  }

  signal(name: Signal): void {
    if (this.#process) this.#process.signal(name);
    else this.#stop.abort(givenUp());
  }

  resize(size: Size): void {
    this.#process?.resize(size);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(givenUp());
    await (await this.#opening)?.[Symbol.asyncDispose]();
  }

  async *#later(): AsyncGenerator<OutputPart, void> {
    const process = await this.#opening;
    if (process !== undefined) yield* process.output;
  }
}

const givenUp = (): FairleadError =>
  new FairleadError('cancelled', 'The command was cancelled before a channel was opened.');

function reasonOf(error: unknown): string {
  return error instanceof FairleadError ? `[${remoteCode(error)}] ${error.message}` : String(error);
}
