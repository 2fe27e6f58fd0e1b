import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorTable } from '../../contract/errors.ts';
import type { Refusal } from './guard.ts';

/** Collects a request body. Undefined when it is longer than allowed; the rest is then left unread. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= maxBytes) return void parts.push(part);
      // Not destroyed: the client is still to be told why.
      request.removeAllListeners('data').pause();
      resolve(undefined);
    });
    request.once('end', () => resolve(Buffer.concat(parts).toString('utf8')));
    request.once('error', reject);
    request.once('close', () => reject(new Error('The client closed the connection.')));
  });
}

const peers = new WeakMap<Request, string>();

/** Address and port a request came from; undefined for what came otherwise. */
export const peerOf = (request: Request | undefined): string | undefined => request && peers.get(request);

/** Node's request as the web's, without its body: handlers get that parsed. */
export function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string') headers.set(name, value);
    else for (const each of value ?? []) headers.append(name, each);
  }
  const url = `http://${request.headers.host ?? 'localhost'}${request.url ?? '/'}`;
  const web = new Request(url, { method: request.method ?? 'GET', headers, signal });
  const { remoteAddress = 'gone', remotePort = 0 } = request.socket;
  peers.set(web, `${remoteAddress}:${remotePort}`);
  return web;
}

/** Writes a web response, as fast as the client reads it. Resolves when it is out or the client is gone. */
export async function sendWebResponse(response: Response, to: ServerResponse, gone: AbortSignal): Promise<void> {
  to.writeHead(response.status, Object.fromEntries(response.headers));
  // An event stream may have nothing to say for long; its client still wants to know that it is open.
  to.flushHeaders();
  if (response.body !== null) {
    const reader = response.body.getReader();
    const stop = (): void => void reader.cancel().catch(() => {});
    gone.addEventListener('abort', stop, { once: true });
    try {
      for (let next = await reader.read(); !next.done && !gone.aborted; next = await reader.read()) {
        if (!to.write(next.value)) await once(to, 'drain', { signal: gone });
      }
    } catch (thrown) {
      if (!gone.aborted) to.destroy(thrown as Error);
    } finally {
      gone.removeEventListener('abort', stop);
    }
  }
  to.end();
}

/** An error for whoever is not (or not yet) speaking JSON-RPC: one line of JSON. */
export function sendRefusal(to: ServerResponse, refusal: Refusal): void {
  const { status, code, message, hint, headers } = refusal;
  // The body of a refused request was not read, so the connection cannot carry another.
  to.writeHead(status, { ...headers, 'content-type': 'application/json', connection: 'close' });
  to.end(`${JSON.stringify({ error: { code, message, hint, retry: errorTable[code].retry } })}\n`);
}

/** A JSON-RPC error outside any call. */
export const httpRpcError = (
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response => Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers });
