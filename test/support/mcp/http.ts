import { localOwner } from '../../../src/engine/call/principal.ts';
import { healthRoute } from '../../../src/faces/http/health.ts';
import { HttpServer } from '../../../src/faces/http/server.ts';
import { TokenGuard, type TokenGuardOptions } from '../../../src/faces/http/token-guard.ts';
import { mcpRoute, type McpRouteOptions } from '../../../src/faces/mcp/http/route.ts';
import type { McpSurface } from '../../../src/faces/mcp/surface.ts';

export interface McpHttpOptions extends TokenGuardOptions, Omit<Partial<McpRouteOptions>, 'clock'> {
  readonly host?: string;
  readonly port?: number;
}

export interface McpHttp extends AsyncDisposable {
  /** Where MCP is. */
  readonly url: string;
  readonly port: number;
}

/** A surface on a port of its own, as `fairlead serve` has it. */
export async function serveMcpHttp(surface: McpSurface, options: McpHttpOptions): Promise<McpHttp> {
  const { host = '127.0.0.1', port = 0, clock, ...rest } = options;
  const server = await HttpServer.listen({
    host,
    ports: [port],
    guard: new TokenGuard(options),
    routes: [healthRoute, mcpRoute(surface, { principal: localOwner, ...rest, ...(clock && { clock }) })],
  });
  return {
    url: `${server.url}/mcp`,
    port: server.port,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
