import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { onAbort } from '../../../system/on-abort.ts';
import type { HttpVisit } from '../../http/route.ts';

const peers = new WeakMap<Request, string>();

/** Address and port a request came from. Undefined on stdio. */
export const peerOf = (request: Request | undefined): string | undefined => request && peers.get(request);

/** Node's request as a web request, without its body: handlers get that parsed. */
export function toWebRequest({ request, peer, gone }: HttpVisit): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string') headers.set(name, value);
    else for (const each of value ?? []) headers.append(name, each);
  }
  const url = `http://${request.headers.host ?? 'localhost'}${request.url ?? '/'}`;
  const web = new Request(url, { method: request.method ?? 'GET', headers, signal: gone });
  peers.set(web, peer);
  return web;
}

/** Writes a web response, as fast as the client reads it. Resolves when it is written or the client is gone. */
export async function sendWebResponse(response: Response, to: ServerResponse, gone: AbortSignal): Promise<void> {
  to.writeHead(response.status, Object.fromEntries(response.headers));
  // The first event of a stream may come late; the headers tell the client that the stream is open.
  to.flushHeaders();
  if (response.body !== null) {
    const reader = response.body.getReader();
    // The client may have left before there was an answer.
    using _stop = onAbort(gone, () => void reader.cancel().catch(() => {}));
    try {
      for (let next = await reader.read(); !next.done && !gone.aborted; next = await reader.read()) {
        if (!to.write(next.value)) await once(to, 'drain', { signal: gone });
      }
    } catch (thrown) {
      if (!gone.aborted) to.destroy(thrown as Error);
    }
  }
  to.end();
}

/** A JSON-RPC error outside any call. */
export const httpRpcError = (
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response => Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers });
