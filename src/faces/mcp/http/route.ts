import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  type McpServerFactory,
} from '@modelcontextprotocol/server';
import { isDeeper } from '../../../lib/json-depth.ts';
import { systemClock } from '../../../system/clock.ts';
import type { HttpVisit, Route } from '../../http/route.ts';
import { CallsEnd } from '../../door/calls-end.ts';
import { createServer } from '../server.ts';
import { hasResources, type McpSurface } from '../surface.ts';
import { HttpListens } from './listens.ts';
import { type HttpSessionLimits, LegacySessions } from './sessions.ts';
import { httpRpcError, sendWebResponse, toWebRequest } from './web.ts';

const maxBodyBytes = 16 << 20;
/** Deeper than any argument of a tool. */
const deepest = 200;
/** How long calls may take to answer once they are told to stop waiting. */
const answerMs = 200;

export interface McpRouteOptions extends Partial<HttpSessionLimits> {
  /** Whose things its callers see. */
  readonly principal: string;
  readonly onError?: ((error: Error) => void) | undefined;
}

/** Streamable HTTP for both protocol eras on one path: what a request claims decides which of them serves it. */
export function mcpRoute(surface: McpSurface, options: McpRouteOptions): Route {
  const { principal, onError = () => {}, maxSessions = 100, idleMs = 30 * 60_000, clock = systemClock } = options;
  const ending = new CallsEnd();
  const sessions = new LegacySessions(surface, { maxSessions, idleMs, clock }, { principal, ending, onError });
  const factory: McpServerFactory = ({ era }) => createServer(surface, { era, principal, client: {}, ending });
  const modern = createMcpHandler(factory, { legacy: 'reject', onerror: onError });
  const listens = hasResources(surface) ? new HttpListens({ surface, principal, factory, onError }) : undefined;

  async function answer(visit: HttpVisit): Promise<Response> {
    const { request } = visit;
    if (!['GET', 'POST', 'DELETE'].includes(request.method ?? '')) {
      return httpRpcError(405, -32000, 'Method not allowed.', { allow: 'GET, POST, DELETE', connection: 'close' });
    }
    const web = toWebRequest(visit);
    if (request.method !== 'POST') return sessions.fetch(web, undefined);
    if (!isJsonContentType(request.headers['content-type'])) {
      return httpRpcError(415, -32000, 'The content type must be application/json.', { connection: 'close' });
    }
    const text = await visit.body(maxBodyBytes);
    if (text === undefined) {
      return httpRpcError(413, -32000, `A request may have at most ${maxBodyBytes} bytes.`, { connection: 'close' });
    }
    if (isDeeper(text, deepest)) return httpRpcError(400, -32600, 'Invalid request: nested too deeply');
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return httpRpcError(400, -32700, 'Parse error: not JSON');
    }
    if (await isLegacyRequest(web, body)) return sessions.fetch(web, body);
    return (await listens?.fetch(web, body)) ?? (await modern.fetch(web, { parsedBody: body }));
  }

  return {
    path: '/mcp',
    async handle(visit) {
      const { response, gone } = visit;
      let reply: Response;
      try {
        reply = await answer(visit);
      } catch (thrown) {
        if (!gone.aborted) onError(thrown as Error);
        reply = httpRpcError(500, -32603, 'Internal error');
      }
      await sendWebResponse(reply, response, gone);
    },
    async [Symbol.asyncDispose]() {
      ending.begin('The server is closing.');
      await ending.answered(answerMs);
      await Promise.allSettled([modern.close(), listens?.[Symbol.asyncDispose](), sessions[Symbol.asyncDispose]()]);
    },
  };
}
