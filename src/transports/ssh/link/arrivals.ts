import type { ByteQueue } from '../../../lib/byte-queue.ts';
import { type Deferred, deferred } from '../../../lib/deferred.ts';
import type { OutputPart, StreamName } from './link.ts';

interface Run {
  readonly stream: StreamName;
  /** Chunks of it that are not read yet. */
  chunks: number;
}

/** Two queues read as one, in the order in which chunks were pushed to them: packets of one read come in one turn. */
export class Arrivals implements AsyncIterable<OutputPart> {
  readonly #queues: Readonly<Record<StreamName, ByteQueue>>;
  readonly #runs: Run[] = [];
  #wake: Deferred<void> | undefined;
  #over = false;

  constructor(stdout: ByteQueue, stderr: ByteQueue) {
    this.#queues = { stdout, stderr };
  }

  /** A chunk was pushed. */
  came(stream: StreamName): void {
    if (this.#over) return;
    const last = this.#runs.at(-1);
    if (last?.stream === stream) last.chunks += 1;
    else this.#runs.push({ stream, chunks: 1 });
    this.#wake?.resolve();
  }

  /** Nothing more will come. */
  end(): void {
    this.#over = true;
    this.#wake?.resolve();
  }

  /** The queues are read one by one, so their order does not matter. */
  forget(): void {
    this.end();
    this.#runs.length = 0;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputPart, void> {
    const readers = {
      stdout: this.#queues.stdout[Symbol.asyncIterator](),
      stderr: this.#queues.stderr[Symbol.asyncIterator](),
    };
    try {
      for (;;) {
        const run = this.#runs[0];
        if (run !== undefined && run.chunks > 0) {
          run.chunks -= 1;
          const { value, done } = await readers[run.stream].next();
          if (done !== true) yield { stream: run.stream, bytes: value };
        } else if (run !== undefined) this.#runs.shift();
        else if (this.#over) return;
        else {
          this.#wake = deferred();
          await this.#wake.promise;
          this.#wake = undefined;
        }
      }
    } finally {
      await Promise.all([readers.stdout.return?.(), readers.stderr.return?.()]);
    }
  }
}
