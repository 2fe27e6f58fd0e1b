import { chmod } from 'node:fs/promises';
import { once, setMaxListeners } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import { makePrivate } from './directory.ts';
import { bodyOf } from './body.ts';
import { LineSplitter } from './lines.ts';
import { SocketMethods, type SocketOffer } from './methods.ts';

/** Requests of one connection at a time. Beyond it they are refused, so that no client can fill memory with them. */
const mostPending = 256;

/**
 * Newline JSON on a local socket: `{id, method, params}` in, `{id, result}` or `{id, error}` out, as they finish. A stream sends
 * `{id, item}` lines before its result; `{cancel: id}` ends one. With `body: true` the next line is bytes for the method and no JSON:
 * a secret that never becomes a string, which could not be overwritten.
 */
export class SocketServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #connections = new Set<Socket>();

  private constructor(offer: SocketOffer) {
    const methods = new SocketMethods(offer);
    this.#server = createServer((socket) => {
      this.#connections.add(socket);
      socket.on('close', () => this.#connections.delete(socket));
      void new Conversation(socket, methods);
    });
    // The command that serves decides how long the process lives.
    this.#server.unref();
  }

  static async listen(path: string, offer: SocketOffer): Promise<SocketServer> {
    await makePrivate(dirname(path));
    const socket = new SocketServer(offer);
    socket.#server.listen(path);
    await once(socket.#server, 'listening');
    await chmod(path, 0o600);
    return socket;
  }

  /** Removes its file, too. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }
}

/** One connection. */
class Conversation {
  readonly #socket: Socket;
  readonly #methods: SocketMethods;
  readonly #lines = new LineSplitter();
  readonly #gone = new AbortController();
  readonly #pending = new Map<number | string, AbortController>();
  /** Its bytes come with the next line. */
  #awaited: Request | undefined;
  #room: Promise<unknown> | undefined;

  constructor(socket: Socket, methods: SocketMethods) {
    this.#socket = socket;
    this.#methods = methods;
    // Every request under way listens to it.
    setMaxListeners(0, this.#gone.signal);
    socket.on('data', (chunk: Buffer) => {
      const complete = this.#lines.pushBytes(chunk);
      if (!complete) return void socket.destroy();
      for (const line of complete) this.#take(line).catch(() => socket.destroy());
    });
    socket.on('error', () => {});
    // A dropped connection cancels waits, not commands (R-TERM-022).
    socket.on('close', () => this.#gone.abort());
  }

  async #take(line: Buffer): Promise<void> {
    const request = this.#awaited;
    if (request !== undefined) {
      this.#awaited = undefined;
      const body = bodyOf(line);
      try {
        return await this.#serve(request, body);
      } finally {
        body.fill(0);
      }
    }
    const text = line.toString();
    if (text.trim() === '') return;
    const parsed = parse(text);
    if (!parsed)
      return this.#reply({
        id: 0,
        error: { message: 'This line is not a valid request; expected {id, method, params}.' },
      });
    if ('cancel' in parsed) this.#pending.get(parsed.cancel)?.abort();
    else if (parsed.body) this.#awaited = parsed;
    else await this.#serve(parsed, undefined);
  }

  async #serve({ id, method, params }: Request, body: Buffer | undefined): Promise<void> {
    const leaving = new AbortController();
    try {
      if (this.#pending.size >= mostPending) throw new FairleadError('limit_reached', 'Too many concurrent requests.');
      if (this.#pending.has(id)) throw new FairleadError('invalid_input', 'A request with this id is under way.');
      this.#pending.set(id, leaving);
      const { signal: connection } = this.#gone;
      const signal = AbortSignal.any([connection, leaving.signal]);
      const item = (one: unknown): Promise<void> => this.#send({ id, item: one });
      try {
        const result = await this.#methods.run(method, params, { connection, signal, body, item });
        this.#reply({ id, result: result ?? null });
      } finally {
        this.#pending.delete(id);
      }
    } catch (thrown) {
      this.#reply({ id, error: explain(thrown) });
    }
  }

  #reply(message: object): void {
    if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  /** The same for items: a client that does not read them is not sent more. */
  async #send(message: object): Promise<void> {
    if (this.#socket.destroyed) return;
    if (this.#socket.write(`${JSON.stringify(message)}\n`)) return;
    this.#room ??= once(this.#socket, 'drain', { signal: this.#gone.signal }).finally(() => {
      this.#room = undefined;
    });
    await this.#room;
  }
}

interface Request {
  readonly id: number | string;
  readonly method: string;
  readonly params: unknown;
  /** The next line belongs to it. */
  readonly body: boolean;
}

const isId = (id: unknown): id is number | string => typeof id === 'number' || typeof id === 'string';

function parse(line: string): Request | { readonly cancel: number | string } | undefined {
  try {
    const { id, method, params, body, cancel } = JSON.parse(line) as Record<string, unknown>;
    if (isId(cancel)) return { cancel };
    if (!isId(id) || typeof method !== 'string') return undefined;
    return { id, method, params, body: body === true };
  } catch {
    return undefined;
  }
}

function explain(thrown: unknown): object {
  if (!(thrown instanceof FairleadError)) return { message: 'Something went wrong inside Fairlead.', code: 'internal' };
  const { message, code, hint } = thrown;
  return { message, code, ...(hint === undefined ? {} : { hint }) };
}
