import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { errorTable, type ErrorCode, FairleadError } from '../../contract/errors.ts';
import { type Deferred, deferred } from '../../lib/deferred.ts';
import { socketLine } from './body.ts';
import { LineSplitter } from './lines.ts';

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly code?: string; readonly hint?: string };
}

/** The other end of a local socket. */
export class SocketClient implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #lines = new LineSplitter();
  readonly #waiting = new Map<number, Deferred<unknown>>();
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

  /** `body`: bytes for the method that must not stay in memory; overwritten here once they are sent. */
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
      if (reply.error) waiting?.reject(errorOf(reply.error));
      else waiting?.resolve(reply.result);
    }
  }

  #giveUp(): void {
    this.#end = notUnderstood;
    this.#socket.destroy();
  }

  #lost(): void {
    for (const waiting of this.#waiting.values()) waiting.reject(this.#end());
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
