import { FairleadError } from '../../src/contract/errors.ts';
import type { Channel, Ended, Signal, Size } from '../../src/engine/terminal/channel.ts';
import { ByteQueue } from '../../src/lib/byte-queue.ts';

const HIGH_WATER = 256 * 1024;

interface EchoTarget {
  /** False for a far side that takes input and repeats nothing: only what `say` is given comes out. */
  readonly echo?: boolean;
}

/** Repeats what it is sent, and says what it is told to. The double every other layer tests with. */
export class EchoChannel implements Channel {
  readonly output: ByteQueue;
  readonly ended: Promise<Ended>;
  /** Everything that was written, asked and signalled, for tests to look at. */
  readonly written: Uint8Array[] = [];
  readonly sizes: Size[];
  readonly signals: Signal[] = [];
  readonly #echo: boolean;
  readonly #settle: (ended: Ended) => void;
  #room: (() => void)[] = [];
  #writing: Promise<void> = Promise.resolve();
  #open = true;

  constructor(size: Size, { echo = true }: EchoTarget = {}) {
    this.#echo = echo;
    this.sizes = [size];
    this.output = new ByteQueue(HIGH_WATER, () => this.#roomAgain());
    let settle: (ended: Ended) => void = () => {};
    this.ended = new Promise((resolve) => {
      settle = resolve;
    });
    this.#settle = settle;
  }

  /** The far side writes, ignoring backpressure: a test knows its own volume. */
  say(bytes: Uint8Array | string): void {
    this.output.push(typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes.slice());
  }

  /** The far side ends. Only the first end counts. */
  end(ended: Ended = { by: 'exit', code: 0 }): void {
    if (!this.#open) return;
    this.#open = false;
    this.output.end();
    this.#roomAgain();
    this.#settle(ended);
  }

  write(bytes: Uint8Array): Promise<void> {
    const turn = this.#writing.then(() => this.#accept(bytes));
    this.#writing = turn.catch(() => {});
    return turn;
  }

  async #accept(bytes: Uint8Array): Promise<void> {
    while (this.#open && this.output.full) await new Promise<void>((resolve) => this.#room.push(resolve));
    if (!this.#open) {
      throw new FairleadError('terminal_exited', 'The far side has ended; it takes no input.', {
        hint: 'Open a new terminal.',
      });
    }
    this.written.push(bytes.slice());
    if (this.#echo) this.output.push(bytes.slice());
  }

  #roomAgain(): void {
    for (const resume of this.#room.splice(0)) resume();
  }

  async resize(size: Size): Promise<void> {
    this.sizes.push(size);
  }

  async kill(signal: Signal): Promise<void> {
    this.signals.push(signal);
    const ignored = signal === 'STOP' || signal === 'CONT';
    if (!ignored) this.end({ by: 'signal', signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end({ by: 'signal', signal: 'HUP' });
  }
}
