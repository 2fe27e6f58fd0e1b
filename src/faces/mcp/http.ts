import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { FairleadError } from '../../contract/errors.ts';
import { systemClock } from '../../engine/system-clock.ts';
import { sendRefusal } from './http-exchange.ts';
import { checkHost, checkOrigin, checkToken, type GuardRules } from './http-guard.ts';
import { type McpEndpoint, mcpEndpoint } from './http-mcp.ts';
import type { SessionLimits } from './http-sessions.ts';
import type { McpSurface } from './surface.ts';

export interface HttpOptions extends GuardRules, Partial<SessionLimits> {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly path?: string;
  readonly onError?: (error: Error) => void;
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

/** Every check that comes before any handler, then whatever route knows the path. */
export function guarded(rules: GuardRules, routes: readonly Route[]): Route {
  return async (request, response) => {
    const { headers } = request;
    const stranger = checkHost(headers, rules) ?? checkOrigin(headers, rules);
    if (stranger !== undefined) {
      sendRefusal(response, stranger);
      return true;
    }
    if (await health(request, response)) return true;
    const unknown = checkToken(headers, rules);
    if (unknown !== undefined) {
      sendRefusal(response, unknown);
      return true;
    }
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
  const route = guarded(rules, [mcpRoute(endpoint, path)]);
  const answering = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    answering.add(response);
    response.once('close', () => answering.delete(response));
    route(request, response).then(
      (known) => known || sendRefusal(response, notFound(request)),
      (thrown: unknown) => {
        onError(thrown as Error);
        response.destroy();
      },
    );
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
      const out = Promise.all([...answering].map((response) => new Promise((gone) => response.once('close', gone))));
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
