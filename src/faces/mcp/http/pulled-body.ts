import { setImmediate as turn } from 'node:timers/promises';

const keepaliveMs = 15_000;
const keepalive = new TextEncoder().encode(': keepalive\n\n');

/**
 * The body of a response, read no faster than its client takes it: what the client has not taken stays where `drained` can see it. An
 * event stream gets its signs of life here, and only while the client takes them.
 */
export class PulledBody {
  readonly response: Response;
  readonly #done: () => void;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The client took everything and waits for more. */
  #isHungry = false;
  #isOver = false;
  #wake: (() => void) | undefined;

  /** `done`: the body has been read to its end, or was cancelled. */
  constructor(response: Response, done: () => void) {
    this.#done = done;
    this.#reader = response.body?.getReader();
    if (!this.#reader) {
      this.response = response;
      this.#end();
      return;
    }
    const reader = this.#reader;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          if (!isEventStream(response)) return;
          this.#timer = setInterval(() => {
            if (this.#isHungry && (controller.desiredSize ?? -1) >= 0) controller.enqueue(keepalive);
          }, keepaliveMs).unref();
        },
        pull: (controller) => this.#pull(reader, controller),
        cancel: async (reason) => {
          this.#end();
          await reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    this.response = new Response(body, response);
  }

  /** Resolves with true when the client took everything written so far; with false when it never will. */
  async drained(): Promise<boolean> {
    // What was written in this turn has reached the reader in the next one.
    await turn();
    while (!this.#isHungry && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return !this.#isOver;
  }

  async #pull(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    controller: ReadableStreamDefaultController<Uint8Array>,
  ): Promise<void> {
    this.#isHungry = true;
    this.#wake?.();
    try {
      const next = await reader.read();
      this.#isHungry = false;
      if (!next.done) return controller.enqueue(next.value);
      this.#end();
      controller.close();
    } catch (thrown) {
      this.#end();
      throw thrown;
    }
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#wake?.();
    this.#done();
  }
}

export const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;
