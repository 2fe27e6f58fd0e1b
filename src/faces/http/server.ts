import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type ListenOptions, listenOn } from '../door/listen.ts';
import { readBody } from './body.ts';
import { sendRefusal } from './reply.ts';
import type { Guard, HttpVisit, Route } from './route.ts';

interface HttpOptions extends ListenOptions {
  readonly guard: Guard;
  readonly routes: readonly Route[];
  readonly onError?: ((error: Error) => void) | undefined;
  /** How long a whole request may take to arrive. */
  readonly requestMs?: number;
  /** False: the process may end while the server listens. */
  readonly keepsProcess?: boolean;
}

/** How long answers may still be written once the server ends. */
const closeMs = 600;
/** Clients that are turned away are told nothing: the limit is far above what people use. */
const mostConnections = 4096;
const maxHeaderSize = 16 << 10;
const headersMs = 10_000;
/** How often the times are checked. */
const connectionsCheckingInterval = 2000;

/** One port that speaks HTTP. The guard sees every request, then the route of its path. */
export class HttpServer implements AsyncDisposable {
  readonly #options: HttpOptions;
  readonly #server: Server;
  /** By connection: a pipelined response does not learn that its connection is lost. */
  readonly #answering = new Map<Socket, Set<ServerResponse>>();

  private constructor(options: HttpOptions) {
    this.#options = options;
    const { requestMs: requestTimeout = 120_000 } = options;
    const headersTimeout = Math.min(headersMs, requestTimeout);
    const limits = { maxHeaderSize, headersTimeout, requestTimeout, connectionsCheckingInterval };
    this.#server = createServer(limits, (request, response) => this.#take(request, response));
    this.#server.maxConnections = mostConnections;
    this.#server.on('connection', (socket) => {
      options.guard.connected(socket);
      this.#answering.set(socket, new Set());
      socket.once('close', () => this.#answering.delete(socket));
    });
    if (options.keepsProcess === false) this.#server.unref();
  }

  static async listen(options: HttpOptions): Promise<HttpServer> {
    const server = new HttpServer(options);
    try {
      await listenOn(server.#server, options);
    } catch (thrown) {
      await server.#endRoutes();
      throw thrown;
    }
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Where clients on this machine find it, without a path. */
  get url(): string {
    return `http://${nameInUrl(this.#options.host)}:${this.port}`;
  }

  /** It listens on every address of this machine. */
  get isEverywhere(): boolean {
    return everywhere.has(this.#options.host);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await this.#endRoutes();
    const left = [...this.#answering.values()].flatMap((open) => [...open]);
    const out = Promise.all(left.map((response) => new Promise((gone) => response.once('close', gone))));
    await Promise.race([out, delay(closeMs, undefined, { ref: false })]);
    // What is left: idle connections, and clients that do not read.
    this.#server.closeAllConnections();
    await closed;
  }

  async #endRoutes(): Promise<void> {
    await Promise.allSettled(this.#options.routes.map((route) => route[Symbol.asyncDispose]()));
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const open = this.#answering.get(request.socket);
    open?.add(response);
    const gone = new AbortController();
    response.once('close', () => {
      open?.delete(response);
      gone.abort(new Error('The client closed the connection.'));
    });
    const { remoteAddress = 'gone', remotePort = 0 } = request.socket;
    const visit: HttpVisit = {
      request,
      response,
      path: (request.url ?? '/').split('?', 1)[0] ?? '/',
      peer: `${remoteAddress}:${remotePort}`,
      gone: gone.signal,
      body: (maxBytes) => readBody(request, maxBytes),
    };
    this.#answer(visit).catch((thrown: unknown) => {
      if (!gone.signal.aborted) this.#options.onError?.(thrown as Error);
      response.destroy();
    });
  }

  async #answer(visit: HttpVisit): Promise<void> {
    const { guard, routes } = this.#options;
    const { path } = visit;
    const route = routes.find((one) => path === one.path || (one.below === true && path.startsWith(`${one.path}/`)));
    const admitted = await guard.admit(visit, route);
    if (admitted === undefined) return;
    if (route) return await route.handle(admitted);
    const hint = `There is ${routes.map((one) => one.path).join(', ')}.`;
    sendRefusal(visit.response, { status: 404, code: 'not_found', message: `Nothing is at ${path}.`, hint });
  }
}

/** Addresses that stand for all of them. Clients connect to the loopback address of the same family instead. */
const everywhere = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
]);

/** The name by which clients on this machine reach an address. */
export const nameInUrl = (host: string): string =>
  everywhere.get(host) ?? (host.includes(':') ? `[${host}]` : host).toLowerCase();
