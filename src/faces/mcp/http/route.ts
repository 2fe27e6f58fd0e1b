import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMcpHandler, isJsonContentType, isLegacyRequest } from '@modelcontextprotocol/server';
import { isDeeper } from '../../../lib/json-depth.ts';
import { CallsEnd } from '../ending.ts';
import { readBody, httpRpcError, sendWebResponse, toWebRequest } from '../../http/exchange.ts';
import { LegacySessions, type HttpSessionLimits } from './sessions.ts';
import { createServer } from '../server.ts';
import { localOwner } from '../../../engine/call/principal.ts';
import type { McpSurface } from '../surface.ts';

export const maxBodyBytes = 16 << 20;
/** Deeper than any argument of a tool. */
const deepest = 200;
/** How long calls may take to answer once they are told to stop waiting. */
const answerMs = 200;

export interface McpEndpoint extends AsyncDisposable {
  /** Answers one request that has passed the guard. Never rejects. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** Streamable HTTP for both protocol eras on one path: what a request claims decides which of them serves it. */
export function mcpEndpoint(
  surface: McpSurface,
  limits: HttpSessionLimits,
  onError: (error: Error) => void,
): McpEndpoint {
  const ending = new CallsEnd();
  const sessions = new LegacySessions(surface, limits, ending);
  const modern = createMcpHandler(
    ({ era }) => createServer(withoutFollowing(surface), { era, principal: localOwner, client: {}, ending }),
    {
      legacy: 'reject',
      onerror: onError,
    },
  );
  const following = surface.resources?.on((change) => {
    if (change.kind === 'listed') modern.notify.resourcesChanged();
    else modern.notify.resourceUpdated(change.uri);
  });

  async function answer(request: IncomingMessage, gone: AbortSignal): Promise<Response> {
    if (!['GET', 'POST', 'DELETE'].includes(request.method ?? '')) {
      return httpRpcError(405, -32000, 'Method not allowed.', { allow: 'GET, POST, DELETE', connection: 'close' });
    }
    const web = toWebRequest(request, gone);
    if (request.method !== 'POST') return sessions.fetch(web, undefined);
    if (!isJsonContentType(request.headers['content-type'])) {
      return httpRpcError(415, -32000, 'The content type must be application/json.', { connection: 'close' });
    }
    const text = await readBody(request, maxBodyBytes);
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
    return modern.fetch(web, { parsedBody: body });
  }

  return {
    async handle(request, response) {
      const gone = new AbortController();
      response.once('close', () => gone.abort(new Error('The client closed the connection.')));
      let reply: Response;
      try {
        reply = await answer(request, gone.signal);
      } catch (thrown) {
        if (!gone.signal.aborted) onError(thrown as Error);
        reply = httpRpcError(500, -32603, 'Internal error');
      }
      await sendWebResponse(reply, response, gone.signal);
    },
    async [Symbol.asyncDispose]() {
      following?.[Symbol.dispose]();
      ending.begin('The server is closing.');
      await ending.answered(answerMs);
      await Promise.allSettled([modern.close(), sessions[Symbol.asyncDispose]()]);
    },
  };
}

/** A server that lives for one request tells of no changes: the endpoint does, on the streams it keeps open. */
function withoutFollowing(surface: McpSurface): McpSurface {
  if (surface.resources === undefined) return surface;
  return { ...surface, resources: { ...surface.resources, on: () => ({ [Symbol.dispose]() {} }) } };
}
