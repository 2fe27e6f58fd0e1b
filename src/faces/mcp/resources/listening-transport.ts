import {
  type JSONRPCMessage,
  type RequestId,
  SUBSCRIPTION_ID_META_KEY,
  type Transport,
} from '@modelcontextprotocol/server';
import type { CallOperation } from '../../../engine/call/call.ts';
import type { ConnectedClient, ResourceNote } from '../../../engine/call/connected-client.ts';
import { deferred } from '../../../lib/deferred.ts';
import { abortable } from '../../../system/abortable.ts';
import type { McpResources, McpSurface } from '../surface.ts';
import { isListen, type ListenRequest, listenRequest, narrowed, subscribeAll } from './listen-request.ts';
import { notificationOf, tellNotes } from './notes.ts';

/** Requests that wait for their turn; more are refused. */
const mostWaiting = 64;

interface Listen {
  /** What it follows: ids of subscriptions by the URI it wrote. */
  readonly followed: ReadonlyMap<string, string>;
  readonly wantsList: boolean;
}

export interface ListeningOptions {
  readonly surface: McpSurface & { readonly resources: McpResources };
  readonly principal: string;
  readonly connected: ConnectedClient;
  readonly onError: (error: Error) => void;
}

/**
 * A connection on which the library serves `subscriptions/listen`, and this what is listened to: it subscribes before the library sees
 * the request, leaves out what cannot be followed, and sends each listener what it named. A URI is followed as long as one of the
 * connection's requests holds it.
 */
export class ListeningTransport implements Transport, AsyncDisposable {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #wire: Transport;
  readonly #options: ListeningOptions;
  readonly #listens = new Map<RequestId, Listen>();
  /** Requests whose answer has not been seen yet. */
  readonly #unanswered = new Map<RequestId, () => void>();
  readonly #stop = new AbortController();
  /** Requests and their ends, in the order they came. */
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** Requests that came and have not ended, as far as the client knows. */
  readonly #live = new Set<RequestId>();
  #isOld = false;
  #telling: Promise<void> | undefined;

  constructor(wire: Transport, options: ListeningOptions) {
    this.#wire = wire;
    this.#options = options;
  }

  start(): Promise<void> {
    this.#wire.onmessage = (message: JSONRPCMessage) => this.#take(message);
    this.#wire.onerror = (error) => this.onerror?.(error);
    this.#wire.onclose = () => {
      this.#stop.abort();
      this.onclose?.();
    };
    return this.#wire.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#sent(message);
    await this.#wire.send(message);
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  /** Tells the client in the 2025 way: of everything it follows, without a request to answer. */
  tell(send: (note: ResourceNote) => Promise<void>): void {
    this.#isOld = true;
    this.#tell(send);
  }

  /** The client is gone. What it followed ends with its connection, which its owner disposes. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    for (const answered of this.#unanswered.values()) answered();
    await this.#turn;
    await this.#telling;
  }

  #take(message: JSONRPCMessage): void {
    if (this.#isOld) return this.onmessage?.(message);
    if (isListen(message)) {
      if (this.#waiting >= mostWaiting) return this.#refuse(message.id);
      this.#live.add(message.id);
      const request = listenRequest(message);
      return this.#inTurn(() => (request ? this.#open(request) : this.onmessage?.(message)));
    }
    const ended = cancelled(message);
    if (ended === undefined || !this.#live.delete(ended)) return this.onmessage?.(message);
    // The library learns of the end after it has learned of the request.
    this.#inTurn(async () => {
      this.onmessage?.(message);
      await this.#release(ended);
    });
  }

  #inTurn(work: () => void | Promise<void>): void {
    this.#waiting += 1;
    this.#turn = this.#turn
      .then(work)
      .catch((error: unknown) => this.#options.onError(error as Error))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  async #open(request: ListenRequest): Promise<void> {
    const { signal } = this.#stop;
    const { surface, principal, connected } = this.#options;
    const { id } = request.message;
    const followed = await subscribeAll(request, { surface, principal, connected, signal });
    if (signal.aborted) return;
    const before = this.#listens.get(id);
    const answered = deferred();
    this.#unanswered.set(id, answered.resolve);
    this.#listens.set(id, { followed, wantsList: request.wantsList });
    if (before) await this.#unfollow(before);
    this.#hear();
    this.onmessage?.(narrowed(request, [...followed.keys()]));
    await answered.promise;
    this.#unanswered.delete(id);
    if (this.#listens.has(id)) this.#tell((note) => this.#toListeners(note));
    else await this.#unfollow({ followed });
  }

  /** An answer to a request ends it; an acknowledgement begins it. */
  #sent(message: JSONRPCMessage): void {
    const id = 'method' in message ? acknowledged(message) : message.id;
    if (id === undefined) return;
    if (!('method' in message)) {
      this.#listens.delete(id);
      this.#live.delete(id);
    }
    this.#unanswered.get(id)?.();
  }

  async #release(id: RequestId): Promise<void> {
    const listen = this.#listens.get(id);
    this.#listens.delete(id);
    this.#hear();
    if (listen) await this.#unfollow(listen);
  }

  /** Ends what no other request holds. */
  async #unfollow({ followed }: Pick<Listen, 'followed'>): Promise<void> {
    const { surface, principal, connected } = this.#options;
    const { call, operations } = surface.resources;
    const held = new Set([...this.#listens.values()].flatMap((listen) => [...listen.followed.values()]));
    const { may } = surface;
    const caller = { name: 'mcp', origin: 'mcp', principal, may, connected } as const;
    for (const [uri, subId] of followed) {
      if (held.has(subId) || this.#stop.signal.aborted) continue;
      const context: Parameters<CallOperation>[2] = { caller, signal: this.#stop.signal };
      await call(operations.unsubscribe, { uri }, context).catch(this.#options.onError);
    }
  }

  #hear(): void {
    this.#options.connected.hearsOfList = [...this.#listens.values()].some(({ wantsList }) => wantsList);
  }

  #tell(send: (note: ResourceNote) => Promise<void>): void {
    const { connected, onError } = this.#options;
    const { signal } = this.#stop;
    const sent = async (note: ResourceNote): Promise<boolean> => {
      // A client that stopped reading holds up nothing but its own notes, and those only until it is gone.
      await abortable(send(note), signal);
      return true;
    };
    this.#telling ??= tellNotes(connected, signal, sent).catch((error: unknown) => {
      if (!signal.aborted) onError(error as Error);
    });
  }

  async #toListeners(note: ResourceNote): Promise<void> {
    // A listener hears nothing before its acknowledgement.
    await this.#turn;
    const { method, params } = notificationOf(note);
    for (const [id, { followed, wantsList }] of this.#listens) {
      const named = { ...params, _meta: { ...params._meta, [SUBSCRIPTION_ID_META_KEY]: id } };
      if (note.kind === 'listed') {
        if (wantsList) await this.#wire.send({ jsonrpc: '2.0', method, params: named });
        continue;
      }
      for (const [uri, subId] of followed) {
        if (note.subIds.includes(subId)) await this.#wire.send({ jsonrpc: '2.0', method, params: { ...named, uri } });
      }
    }
  }

  #refuse(id: RequestId): void {
    const message = `${mostWaiting} subscriptions/listen requests wait already.`;
    const data = { code: 'MAX_SUBS_TOTAL_EXCEEDED', hint: 'Wait for their acknowledgements first.' };
    this.#wire.send({ jsonrpc: '2.0', id, error: { code: -32603, message, data } }).catch(() => {});
  }
}

function cancelled(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  return message.params?.['requestId'] as RequestId | undefined;
}

function acknowledged(message: Extract<JSONRPCMessage, { method: string }>): RequestId | undefined {
  if (message.method !== 'notifications/subscriptions/acknowledged') return undefined;
  return message.params?._meta?.[SUBSCRIPTION_ID_META_KEY] as RequestId | undefined;
}
