import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
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
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
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

  /** The guard sees it as any request; a refusal is answered in HTTP, and the connection closed. */
  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(request.socket);
    response.once('finish', () => socket.end());
    socket.on('error', () => socket.destroy());
    const gone = new AbortController();
    socket.once('close', () => gone.abort(new Error('The client closed the connection.')));
    const visit = this.#visit(request, response, gone.signal);
    const route = this.#routeOf(visit.path);
    const take = async (): Promise<void> => {
      const admitted = await this.#options.guard.admit(visit, route);
      if (admitted === undefined) return;
      if (!route?.upgrade) {
        const message = 'Nothing here speaks another protocol than HTTP.';
        return sendRefusal(response, { status: 400, code: 'invalid_input', message });
      }
      response.detachSocket(request.socket);
      const held = admitted.login?.hold();
      socket.once('close', () => held?.[Symbol.dispose]());
      route.upgrade(admitted, request, socket, head);
    };
    take().catch((thrown: unknown) => {
      if (!gone.signal.aborted) this.#options.onError?.(thrown as Error);
      socket.destroy();
    });
  }

  #routeOf(path: string): Route | undefined {
    const { routes } = this.#options;
    return routes.find((one) => path === one.path || (one.below === true && path.startsWith(`${one.path}/`)));
  }

  #visit(request: IncomingMessage, response: ServerResponse, gone: AbortSignal): HttpVisit {
    const { remoteAddress = 'gone', remotePort = 0 } = request.socket;
    return {
      request,
      response,
      path: (request.url ?? '/').split('?', 1)[0] ?? '/',
      peer: `${remoteAddress}:${remotePort}`,
      gone,
      body: (maxBytes) => readBody(request, maxBytes),
    };
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const open = this.#answering.get(request.socket);
    open?.add(response);
    const gone = new AbortController();
    response.once('close', () => {
      open?.delete(response);
      gone.abort(new Error('The client closed the connection.'));
    });
    this.#answer(this.#visit(request, response, gone.signal)).catch((thrown: unknown) => {
      if (!gone.signal.aborted) this.#options.onError?.(thrown as Error);
      response.destroy();
    });
  }

  async #answer(visit: HttpVisit): Promise<void> {
    const { guard, routes } = this.#options;
    const { path } = visit;
    const route = this.#routeOf(path);
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
