import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import type { z } from 'zod';
import { errorTable, type ErrorCode, FairleadError } from '../../contract/errors.ts';
import { type Operation, operationId, type StreamOperation } from '../../engine/call/operation.ts';
import { type Deferred, deferred } from '../../lib/deferred.ts';
import { ItemQueue } from './item-queue.ts';
import { socketLine } from './body.ts';
import { LineSplitter } from './lines.ts';

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  /** One of a stream; its result comes behind the last. */
  readonly item?: unknown;
  readonly error?: { readonly message: string; readonly code?: string; readonly hint?: string };
}

/** The other end of a local socket. */
export class SocketClient implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #lines = new LineSplitter();
  readonly #waiting = new Map<number, Deferred<unknown>>();
  readonly #streams = new Map<number, ItemQueue>();
  #nextId = 1;
  /** Why nothing more can be asked. */
  #end = hungUp;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => {});
    socket.on('close', () => this.#lost());
  }

  static async connect(path: string, signal: AbortSignal): Promise<SocketClient> {
    const socket = createConnection(path);
    try {
      await once(socket, 'connect', { signal });
    } catch (thrown) {
      socket.destroy();
      throw thrown;
    }
    return new SocketClient(socket);
  }

  /** Calls an operation of the other process. `body`: the content of its secret field; overwritten here once it is sent. */
  async call<In extends z.ZodType, Out extends z.ZodType>(
    op: Operation<In, Out>,
    input: z.input<In>,
    signal: AbortSignal,
    body?: Buffer,
  ): Promise<z.output<Out>> {
    return (await this.request(operationId(op), input, signal, body)) as z.output<Out>;
  }

  /** The items of a stream of the other process. Aborting the signal or returning early ends it there, too. */
  async *stream<In extends z.ZodType, Item extends z.ZodType>(
    op: StreamOperation<In, Item>,
    input: z.input<In>,
    signal: AbortSignal,
  ): AsyncGenerator<z.output<Item>, void, void> {
    if (this.#socket.destroyed) throw this.#end();
    const id = this.#nextId++;
    const queue = new ItemQueue(this.#socket);
    const leave = (): void => queue.end();
    this.#streams.set(id, queue);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    this.#socket.write(`${JSON.stringify({ id, method: operationId(op), params: input })}\n`);
    try {
      for await (const item of queue) yield item as z.output<Item>;
    } finally {
      signal.removeEventListener('abort', leave);
      this.#streams.delete(id);
      queue.end();
      if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify({ cancel: id })}\n`);
    }
  }

  async request(method: string, params: unknown, signal: AbortSignal, body?: Buffer): Promise<unknown> {
    if (this.#socket.destroyed) throw this.#end();
    const id = this.#nextId++;
    const answer = deferred<unknown>();
    const stop = (): void => answer.reject(new FairleadError('timeout', 'There was no answer in time.'));
    this.#waiting.set(id, answer);
    signal.addEventListener('abort', stop, { once: true });
    this.#socket.write(`${JSON.stringify({ id, method, params, ...(body && { body: true }) })}\n`);
    if (body) {
      const line = socketLine(body);
      this.#socket.write(line, () => line.fill(0));
    }
    try {
      return await answer.promise;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#waiting.delete(id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#socket.closed) return;
    this.#socket.destroy();
    await once(this.#socket, 'close');
  }

  #receive(chunk: Buffer): void {
    const lines = this.#lines.push(chunk);
    if (!lines) return this.#giveUp();
    for (const line of lines) {
      const reply = parse(line);
      if (!reply) return this.#giveUp();
      const waiting = this.#waiting.get(reply.id);
      const stream = this.#streams.get(reply.id);
      if ('item' in reply) stream?.push(reply.item);
      else if (reply.error) (waiting?.reject ?? stream?.fail)?.(errorOf(reply.error));
      else (waiting?.resolve ?? stream?.end)?.(reply.result);
    }
  }

  #giveUp(): void {
    this.#end = notUnderstood;
    this.#socket.destroy();
  }

  #lost(): void {
    for (const waiting of this.#waiting.values()) waiting.reject(this.#end());
    for (const stream of this.#streams.values()) stream.fail(this.#end());
  }
}

const hungUp = (): FairleadError => new FairleadError('unavailable', 'The other process hung up.');

const notUnderstood = (): FairleadError =>
  new FairleadError('unavailable', 'The other process answered with a line that is no reply.', {
    hint: 'It may be of another version: restart it.',
  });

function parse(line: string): Reply | undefined {
  try {
    const reply = JSON.parse(line) as Partial<Reply> | null;
    return typeof reply?.id === 'number' ? (reply as Reply) : undefined;
  } catch {
    return undefined;
  }
}

function errorOf({ message, code = 'internal', hint }: NonNullable<Reply['error']>): FairleadError {
  const known = Object.keys(errorTable).find((one) => one === code) as ErrorCode | undefined;
  return new FairleadError(known ?? 'internal', message, hint === undefined ? {} : { hint });
}
