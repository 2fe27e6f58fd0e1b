import {
  createMcpHandler,
  InMemoryServerEventBus,
  type JSONRPCRequest,
  type McpServerFactory,
} from '@modelcontextprotocol/server';
import type { ConnectedClient, ResourceNote } from '../../../engine/call/connected-client.ts';
import { type ListenRequest, listenRequest, narrowed, subscribeAll } from '../resources/listen-request.ts';
import { noteMeta, tellNotes } from '../resources/notes.ts';
import type { McpResources, McpSurface } from '../surface.ts';
import { isEventStream, PulledBody } from './pulled-body.ts';
import { peerOf } from './web.ts';

const mostStreams = 1024;

export interface ListensOptions {
  readonly surface: McpSurface & { readonly resources: McpResources };
  readonly principal: string;
  readonly factory: McpServerFactory;
  readonly onError: (error: Error) => void;
}

interface Open {
  /** Tells the client that its stream ends, and ends it. */
  readonly close: () => Promise<void>;
}

/**
 * The streams of `subscriptions/listen` over HTTP. Each is all there is of a client: what it names is followed as long as it is open. The
 * library serves it, with an event bus that only this stream hears.
 */
export class HttpListens implements AsyncDisposable {
  readonly #options: ListensOptions;
  readonly #open = new Set<Open>();
  #isOver = false;

  constructor(options: ListensOptions) {
    this.#options = options;
  }

  /** Undefined: the library refuses such a request by itself, or it follows no resources. */
  async fetch(request: Request, body: unknown): Promise<Response | undefined> {
    const listen = listenRequest(body);
    if (!listen || (listen.uris.length === 0 && !listen.wantsList)) return undefined;
    if (this.#open.size >= mostStreams || this.#isOver) return refused(listen.message);
    return await this.#serve(request, listen);
  }

  async #serve(request: Request, listen: ListenRequest): Promise<Response> {
    const { surface, principal, factory, onError } = this.#options;
    const connected = surface.resources.connect('listener', principal);
    const bus = new InMemoryServerEventBus(onError);
    const handler = createMcpHandler(factory, { legacy: 'reject', onerror: onError, bus, keepAliveMs: 0 });
    const open: Open = { close: () => handler.close() };
    this.#open.add(open);
    const stop = new AbortController();
    const end = (): void => {
      stop.abort();
      this.#open.delete(open);
      connected[Symbol.dispose]();
    };
    try {
      connected.hearsOfList = listen.wantsList;
      const signal = AbortSignal.any([request.signal, stop.signal]);
      const followed = await subscribeAll(listen, { surface, principal, connected, peer: peerOf(request), signal });
      const response = await handler.fetch(request, { parsedBody: narrowed(listen, [...followed.keys()]) });
      const body = new PulledBody(response, end);
      if (isEventStream(response)) this.#tell(connected, bus, body, stop.signal);
      else end();
      return body.response;
    } catch (thrown) {
      end();
      throw thrown;
    }
  }

  #tell(connected: ConnectedClient, bus: InMemoryServerEventBus, body: PulledBody, signal: AbortSignal): void {
    const send = async (note: ResourceNote): Promise<boolean> => {
      if (note.kind === 'listed') bus.publish({ kind: 'resources_list_changed' });
      else bus.publish({ kind: 'resource_updated', uri: note.uri, params: { _meta: noteMeta(note) } });
      return await body.drained();
    };
    tellNotes(connected, signal, send).catch(this.#options.onError);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled([...this.#open].map(({ close }) => close()));
  }
}

function refused({ id }: JSONRPCRequest): Response {
  const data = { code: 'MAX_SUBS_TOTAL_EXCEEDED', hint: 'Close another subscriptions/listen stream first.' };
  const error = { code: -32603, message: `${mostStreams} subscriptions/listen streams are open already.`, data };
  return Response.json({ jsonrpc: '2.0', id, error });
}
