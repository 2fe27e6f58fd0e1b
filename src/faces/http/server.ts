import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { FairleadError } from '../../contract/errors.ts';
import { systemClock } from '../../system/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { FailedLogins } from '../door/failed-logins.ts';
import { Strangers } from '../door/strangers.ts';
import { sendRefusal } from './exchange.ts';
import { checkHost, checkOrigin, checkToken, type GuardRules } from './guard.ts';
import { type McpEndpoint, mcpEndpoint } from '../mcp/http/route.ts';
import type { HttpSessionLimits } from '../mcp/http/sessions.ts';
import type { McpSurface } from '../mcp/surface.ts';

export interface HttpOptions extends GuardRules, Partial<HttpSessionLimits> {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly path?: string;
  readonly onError?: (error: Error) => void;
  /** Absent: wrong tokens are counted for this port alone, and not reported. */
  readonly failed?: FailedLogins | undefined;
}

export interface HttpServer extends AsyncDisposable {
  /** Where clients on this machine find it. */
  readonly url: string;
  readonly port: number;
  /** It listens on every address of this machine. */
  readonly isEverywhere: boolean;
}

/** Answers the requests it knows and says whether it did, so that several can share a server. */
export type Route = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

const closeMs = 600;
const mostStrangers = 256;
/** Headers come within ten seconds, or not at all; looked at every two. */
const patience = { headersTimeout: 10_000, connectionsCheckingInterval: 2000 };

/** What the checks remember from one request to the next. */
interface Door {
  readonly strangers: Strangers;
  readonly failed: FailedLogins;
  readonly clock: Clock;
  /** Connections on which a wrong token waits for its answer. */
  readonly waiting: WeakSet<Socket>;
}

/** Counts a wrong token and lets its answer wait, as long as the client does. */
async function wrongToken({ socket }: IncomingMessage, response: ServerResponse, door: Door): Promise<void> {
  door.failed.add({ peer: `${socket.remoteAddress ?? 'gone'}:${socket.remotePort ?? 0}`, face: 'http' });
  const { delayMs } = door.failed;
  if (delayMs === 0) return;
  door.waiting.add(socket);
  await new Promise<void>((resolve) => {
    const timer = door.clock.after(delayMs, resolve);
    response.once('close', () => {
      timer[Symbol.dispose]();
      resolve();
    });
  });
}

/** Every check that comes before any handler, then whatever route knows the path. */
export function guarded(rules: GuardRules, door: Door, routes: readonly Route[]): Route {
  return async (request, response) => {
    const { headers, rawHeaders, socket } = request;
    const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
    const stranger = checkHost(headers, rules, hosts) ?? checkOrigin(headers, rules);
    if (stranger !== undefined) {
      sendRefusal(response, stranger);
      return true;
    }
    if (await health(request, response)) return true;
    // Guesses sent without waiting for the answers would all be kept: their sender is dropped.
    if (door.waiting.has(socket)) {
      socket.destroy();
      return true;
    }
    const unknown = checkToken(headers, rules);
    if (unknown !== undefined) {
      if (headers.authorization !== undefined) await wrongToken(request, response, door);
      sendRefusal(response, unknown);
      return true;
    }
    door.strangers.recognise(socket);
    for (const route of routes) if (await route(request, response)) return true;
    return false;
  };
}

/** For whoever watches over the process; says nothing a stranger could use. */
const health: Route = (request, response) => {
  if (pathOf(request) !== '/healthz' || request.method !== 'GET') return Promise.resolve(false);
  response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
  return Promise.resolve(true);
};

export const mcpRoute =
  (endpoint: McpEndpoint, path: string): Route =>
  async (request, response) => {
    if (pathOf(request) !== path) return false;
    await endpoint.handle(request, response);
    return true;
  };

/** MCP over Streamable HTTP on a port of its own. */
export async function serveMcpHttp(surface: McpSurface, options: HttpOptions): Promise<HttpServer> {
  const { host, path = '/mcp', maxSessions = 100, idleMs = 30 * 60_000, onError = () => {} } = options;
  const { clock = systemClock } = options;
  const endpoint = mcpEndpoint(surface, { maxSessions, idleMs, clock }, onError);
  const name = nameInUrl(host);
  // Whoever chose the address means it to be used.
  const rules = { ...options, allowedHosts: [...options.allowedHosts, name] };
  const { failed = new FailedLogins(clock, () => {}) } = options;
  const strangers = new Strangers(mostStrangers);
  const route = guarded(rules, { strangers, failed, clock, waiting: new WeakSet() }, [mcpRoute(endpoint, path)]);
  /** By connection: a response that waits behind another one is not told when its connection is lost. */
  const answering = new Map<Socket, Set<ServerResponse>>();
  const server = createServer(patience, (request, response) => {
    const open = answering.get(request.socket);
    open?.add(response);
    response.once('close', () => open?.delete(response));
    route(request, response).then(
      (known) => known || sendRefusal(response, notFound(request)),
      (thrown: unknown) => {
        onError(thrown as Error);
        response.destroy();
      },
    );
  });
  server.on('connection', (socket) => {
    strangers.add(socket);
    answering.set(socket, new Set());
    socket.once('close', () => answering.delete(socket));
  });
  server.listen(options.port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    await endpoint[Symbol.asyncDispose]();
    throw new FairleadError('unavailable', `Cannot listen on ${host}:${options.port}: ${(cause as Error).message}.`, {
      hint: listenHint((cause as NodeJS.ErrnoException).code),
      cause,
    });
  }
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${name}:${port}${path}`,
    isEverywhere: everywhere.has(host),
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      await endpoint[Symbol.asyncDispose]();
      const left = [...answering.values()].flatMap((open) => [...open]);
      const out = Promise.all(left.map((response) => new Promise((gone) => response.once('close', gone))));
      await Promise.race([out, delay(closeMs, undefined, { ref: false })]);
      // What is left are connections kept for later, and clients that do not read.
      server.closeAllConnections();
      await closed;
    },
  };
}

function listenHint(code: string | undefined): string {
  if (code === 'EADDRINUSE') return 'Choose another --port, or end what listens there.';
  if (code === 'EACCES' || code === 'EPERM')
    return 'Choose a --port from 1024 on; lower ones are for the administrator.';
  return 'Choose a --host that is an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them.';
}

/** Addresses that stand for all of them; a client cannot connect to one, but to the loopback of its kind. */
const everywhere = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
]);

const nameInUrl = (host: string): string =>
  everywhere.get(host) ?? (host.includes(':') ? `[${host}]` : host).toLowerCase();

const pathOf = (request: IncomingMessage): string => (request.url ?? '/').split('?', 1)[0] ?? '/';

const notFound = (request: IncomingMessage) =>
  ({ status: 404, code: 'not_found', message: `Nothing is at ${pathOf(request)}.`, hint: 'MCP is at /mcp.' }) as const;
