import { hostname, userInfo } from 'node:os';
import { call } from '../../engine/call/call.ts';
import { callStream } from '../../engine/call/call-stream.ts';
import { localOwner } from '../../engine/call/principal.ts';
import { browserLogins } from '../../engine/instances/browser-logins.ts';
import { loginLinks } from '../../engine/instances/login-links.ts';
import type { Engine } from '../../engine/engine.ts';
import { CodeTries } from '../../faces/door/code-tries.ts';
import type { FailedLogins } from '../../faces/door/failed-logins.ts';
import { portsFrom } from '../../faces/door/listen.ts';
import { Api } from '../../faces/http/api/route.ts';
import { Live } from '../../faces/http/live/live.ts';
import { appRoutes } from '../../faces/http/app.ts';
import { initialsOf, meRoute } from '../../faces/http/me.ts';
import { healthRoute } from '../../faces/http/health.ts';
import { LoginRoute } from '../../faces/http/login.ts';
import { HttpServer, nameInUrl } from '../../faces/http/server.ts';
import { TokenGuard } from '../../faces/http/token-guard.ts';
import { mcpRoute } from '../../faces/mcp/http/route.ts';
import type { McpSurface } from '../../faces/mcp/surface.ts';
import { capabilitiesOf } from '../../operations/capabilities.ts';
import { everyBook } from '../../operations/index.ts';
import { packageRoot } from '../../system/package-root.ts';
import type { Log } from '../../system/incident.ts';
import type { Invocation } from '../command.ts';

interface HttpParts {
  readonly engine: Engine;
  readonly surface: McpSurface;
  readonly settings: Invocation['settings'];
  readonly token: string;
  readonly failed: FailedLogins;
  readonly mayMove: (port: number) => boolean;
  readonly log: Log;
}

const preferredPort = 7420;

/** Where the dashboard is. What it does not know, it says itself. */
const pagesOfApp = [
  '/',
  '/t/',
  '/asks/',
  '/agents/',
  '/timeline',
  '/recordings/',
  '/machines/',
  '/profile/',
  '/audit',
  '/workspaces',
  '/settings/',
  '/health',
  '/login',
];

/** The HTTP port of an instance: MCP, the API and the health check. */
export async function listenHttp(parts: HttpParts): Promise<HttpServer> {
  const { engine, surface, settings, token, failed, mayMove, log } = parts;
  const { host, port, allowHost, allowOrigin } = settings;
  const { clock } = engine;
  const logins = engine.service(browserLogins);
  const onError = (error: Error): void => log(error.message);
  const served = {
    books: await everyBook(),
    call: (op, raw, context) => call(op, raw, { ...context, engine }),
    stream: (op, raw, context) => callStream(op, raw, { ...context, engine }),
    principal: localOwner,
    may: surface.may,
    clock,
  } satisfies ConstructorParameters<typeof Live>[0];
  const api = new Api({ ...served, logins });
  const live = new Live(served);
  const can = capabilitiesOf(served.books, surface.may);
  const you = { id: localOwner, name: userName(), initials: initialsOf(userName()) };
  const me = { host: 'instance', name: hostname(), version: surface.version, you, role: 'owner', can } as const;
  const app = appRoutes({ folder: new URL('dist/web/', packageRoot), pages: pagesOfApp });
  const links = engine.service(loginLinks);
  // An address given with --host is also an allowed host name.
  const allowedHosts = [...allowHost, nameInUrl(host)];
  const guard = new TokenGuard({ token, allowedHosts, allowedOrigins: allowOrigin, failed, logins });
  return await HttpServer.listen({
    host,
    ports: port === undefined ? portsFrom(preferredPort) : [port],
    mayMove,
    guard,
    routes: [
      healthRoute,
      mcpRoute(surface, { principal: localOwner, onError }),
      live,
      meRoute(me),
      new LoginRoute({ logins, redeem: (code) => links.redeem(code), failed, tries: new CodeTries(clock), guard, api }),
      api,
      ...api.elsewhere,
      ...app,
    ],
    onError,
  });
}

/** Of the account that runs the server. An account without an entry has a number only. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'owner';
  }
}
