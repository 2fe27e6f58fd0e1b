import { chmod } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import { makePrivate } from './directory.ts';
import { bodyOf } from './body.ts';
import { LineSplitter } from './lines.ts';

/** `body`: bytes that came behind the request, overwritten once it is done. */
type SocketMethod = (params: unknown, signal: AbortSignal, body: Buffer | undefined) => Promise<unknown>;

/** Concurrent requests of one connection. More are refused, so that a client cannot fill the memory. */
const mostPending = 256;

/**
 * Newline JSON on a local socket: `{id, method, params}` in, `{id, result}` or `{id, error}` out, as they finish. With `body: true` the next
 * line is bytes for the method and no JSON: a secret that never becomes a string, which could not be overwritten.
 */
export class SocketServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #connections = new Set<Socket>();

  private constructor(methods: Readonly<Record<string, SocketMethod>>) {
    this.#server = createServer((socket) => {
      this.#connections.add(socket);
      socket.on('close', () => this.#connections.delete(socket));
      converse(socket, { ...methods, ping: async () => ({ pid: process.pid }) });
    });
    // The server decides how long the process lives.
    this.#server.unref();
  }

  static async listen(path: string, methods: Readonly<Record<string, SocketMethod>>): Promise<SocketServer> {
    await makePrivate(dirname(path));
    const socket = new SocketServer(methods);
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

function converse(socket: Socket, methods: Readonly<Record<string, SocketMethod>>): void {
  const lines = new LineSplitter();
  const gone = new AbortController();
  let pending = 0;
  let awaited: Request | undefined;
  const reply = (message: object): void => {
    if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
  };
  const take = async (line: Buffer): Promise<void> => {
    if (awaited !== undefined) {
      const request = awaited;
      awaited = undefined;
      const body = bodyOf(line);
      try {
        return await serve(request, body);
      } finally {
        body.fill(0);
      }
    }
    const text = line.toString();
    if (text.trim() === '') return;
    const request = parse(text);
    if (!request) return reply({ id: 0, error: { message: 'This line is no request: {id, method, params}' } });
    if (request.body) awaited = request;
    else await serve(request, undefined);
  };
  const serve = async ({ id, method, params }: Request, body: Buffer | undefined): Promise<void> => {
    const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
    try {
      if (!run) throw new FairleadError('unknown_operation', `There is no method "${method.slice(0, 80)}".`);
      if (pending >= mostPending) throw new FairleadError('limit_reached', 'Too many requests at a time.');
      pending++;
      try {
        reply({ id, result: (await run(params, gone.signal, body)) ?? null });
      } finally {
        pending--;
      }
    } catch (thrown) {
      reply({ id, error: explain(thrown) });
    }
  };
  socket.on('data', (chunk: Buffer) => {
    const complete = lines.pushBytes(chunk);
    if (!complete) return void socket.destroy();
    for (const line of complete) take(line).catch(() => socket.destroy());
  });
  socket.on('error', () => {});
  // A dropped connection cancels waits, not commands (R-TERM-022).
  socket.on('close', () => gone.abort());
}

interface Request {
  readonly id: number | string;
  readonly method: string;
  readonly params: unknown;
  /** The next line belongs to it. */
  readonly body: boolean;
}

function parse(line: string): Request | undefined {
  try {
    const { id, method, params, body } = JSON.parse(line) as Record<string, unknown>;
    if ((typeof id !== 'number' && typeof id !== 'string') || typeof method !== 'string') return undefined;
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
