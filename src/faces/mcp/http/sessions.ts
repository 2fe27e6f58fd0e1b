import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { ConnectedClient, ResourceNote } from '../../../engine/call/connected-client.ts';
import type { Clock } from '../../../lib/clock.ts';
import { sessionKey } from '../client-identity.ts';
import { notificationOf, tellNotes } from '../resources/notes.ts';
import { createServer, type ServerSetting } from '../server.ts';
import type { McpSurface } from '../surface.ts';
import { isEventStream, PulledBody } from './pulled-body.ts';
import { httpRpcError } from './web.ts';

export interface HttpSessionLimits {
  readonly maxSessions: number;
  /** A session without requests and event streams ends after this long. */
  readonly idleMs: number;
  readonly clock: Clock;
}

type SessionSetting = Pick<ServerSetting, 'principal' | 'ending'> & { readonly onError: (error: Error) => void };

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** What it follows, where there is something to follow. */
  readonly connected: ConnectedClient | undefined;
  /** Sends a note on its event stream. */
  readonly tell: (note: ResourceNote) => Promise<void>;
  readonly end: () => Promise<void>;
  /** Requests and event streams being served. */
  active: number;
  expiry: Disposable | undefined;
}

/** The sessions of the 2025 protocols: one server and one transport for each. */
export class LegacySessions implements AsyncDisposable {
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>();
  readonly #surface: McpSurface;
  readonly #limits: HttpSessionLimits;
  readonly #setting: SessionSetting;

  constructor(surface: McpSurface, limits: HttpSessionLimits, setting: SessionSetting) {
    this.#surface = surface;
    this.#limits = limits;
    this.#setting = setting;
  }

  async fetch(request: Request, body: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id !== null) {
      const session = this.#sessions.get(id);
      if (session === undefined)
        return httpRpcError(404, -32001, 'Session not found. Send initialize to start a new one.');
      return this.#serve(id, session, request, body);
    }
    if (request.method !== 'POST') return httpRpcError(405, -32000, 'Method not allowed.', { allow: 'POST' });
    if (!isInitializeRequest(body))
      return httpRpcError(400, -32000, 'No Mcp-Session-Id header. Send initialize first.');
    return this.#open(request, body);
  }

  async #open(request: Request, body: unknown): Promise<Response> {
    if (this.#sessions.size >= this.#limits.maxSessions && !(await this.#endOldestIdle())) {
      return httpRpcError(503, -32000, `All ${this.#limits.maxSessions} sessions are in use. End one first.`);
    }
    const id = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id, keepAliveMs: 0 });
    const connected = this.#surface.resources?.connect('session', this.#setting.principal);
    const server = createServer(this.#surface, { ...this.#setting, era: 'legacy', client: { session: id }, connected });
    const tell = async (note: ResourceNote): Promise<void> => server.notification(notificationOf(note));
    const session: Session = { transport, connected, tell, end: () => server.close(), active: 0, expiry: undefined };
    try {
      await server.connect(transport);
    } catch (thrown) {
      connected?.[Symbol.dispose]();
      throw thrown;
    }
    const closed = server.onclose;
    server.onclose = () => {
      session.expiry?.[Symbol.dispose]();
      this.#sessions.delete(id);
      connected?.[Symbol.dispose]();
      this.#surface.clientGone?.(sessionKey(id));
      closed?.();
    };
    this.#sessions.set(id, session);
    const response = await this.#serve(id, session, request, body);
    if (!response.ok) await session.end();
    return response;
  }

  async #serve(id: string, session: Session, request: Request, body: unknown): Promise<Response> {
    session.active += 1;
    session.connected?.presence?.touch();
    session.expiry?.[Symbol.dispose]();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    const cancel = (): void => cancelCalls(session.transport, body);
    request.signal.addEventListener('abort', cancel, { once: true });
    const done = (): void => {
      request.signal.removeEventListener('abort', cancel);
      session.active -= 1;
      if (session.active === 0 && this.#sessions.get(id) === session) this.#expireLater(session);
    };
    try {
      const response = await session.transport.handleRequest(request, { parsedBody: body });
      if (request.method !== 'GET' || !isEventStream(response)) return new PulledBody(response, done).response;
      return this.#stream(session, response, done);
    } catch (thrown) {
      done();
      throw thrown;
    }
  }

  /** The one stream on which a session is told of changes. While it is closed they wait with the client. */
  #stream({ connected, tell }: Session, response: Response, done: () => void): Response {
    const stop = new AbortController();
    const { presence } = connected ?? {};
    const body = new PulledBody(response, () => {
      stop.abort();
      if (presence) presence.streams -= 1;
      done();
    });
    if (presence) presence.streams += 1;
    if (connected) {
      const send = async (note: ResourceNote): Promise<boolean> => {
        await tell(note);
        return await body.drained();
      };
      tellNotes(connected, stop.signal, send).catch((error: unknown) => {
        if (!stop.signal.aborted) this.#setting.onError(error as Error);
      });
    }
    return body.response;
  }

  #expireLater(session: Session): void {
    const { clock, idleMs } = this.#limits;
    session.expiry = clock.after(idleMs, () => void session.end().catch(() => {}));
  }

  async #endOldestIdle(): Promise<boolean> {
    for (const session of this.#sessions.values()) {
      if (session.active > 0) continue;
      await session.end();
      return true;
    }
    return false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.end()));
  }
}

/** Events are not kept for clients that reconnect: a client that hangs up never sees the answers it waits for. */
function cancelCalls(transport: WebStandardStreamableHTTPServerTransport, body: unknown): void {
  for (const message of Array.isArray(body) ? body : [body]) {
    const { id, method } = (message ?? {}) as { id?: RequestId; method?: string };
    if (id === undefined || method === undefined) continue;
    const params = { requestId: id, reason: 'The client closed the connection.' };
    transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  }
}
