import { setImmediate as turn } from 'node:timers/promises';
import {
  CLIENT_INFO_META_KEY,
  isJSONRPCRequest,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { FairleadError } from '../../../contract/errors.ts';
import type { Caller } from '../../../engine/call/call.ts';
import type { ConnectedClient } from '../../../engine/call/connected-client.ts';
import type { McpSurface } from '../surface.ts';

/** A process allows no more subscriptions by default. URIs beyond it are left out without being looked up. */
const mostUris = 1024;
/** After this many URIs other requests get a turn. */
const inARow = 32;

/** A `subscriptions/listen` of which the part about resources can be read. Everything else about it the library checks. */
export interface ListenRequest {
  readonly message: JSONRPCRequest;
  /** Each once. */
  readonly uris: readonly string[];
  readonly wantsList: boolean;
  /** The client's name for itself. */
  readonly client: string;
}

/** Undefined: it is something else, or the library will refuse it. */
export function listenRequest(message: unknown): ListenRequest | undefined {
  if (!isListen(message)) return undefined;
  const { _meta: meta, notifications: filter } = message.params ?? {};
  if (!isRecord(filter) || typeof (meta as Fields | undefined)?.[PROTOCOL_VERSION_META_KEY] !== 'string')
    return undefined;
  const { resourceSubscriptions: uris = [], resourcesListChanged } = filter;
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string')) return undefined;
  const info = (meta as Fields)[CLIENT_INFO_META_KEY];
  const name = isRecord(info) && typeof info['name'] === 'string' ? info['name'].slice(0, 100) : 'mcp';
  return { message, uris: firstOf(uris as string[]), wantsList: resourcesListChanged === true, client: name };
}

export const isListen = (message: unknown): message is JSONRPCRequest =>
  isRecord(message) && message['method'] === 'subscriptions/listen' && isJSONRPCRequest(message);

/** The same request for these URIs alone. */
export function narrowed({ message }: ListenRequest, uris: readonly string[]): JSONRPCRequest {
  const filter = message.params?.['notifications'] as Fields;
  return {
    ...message,
    params: { ...message.params, notifications: { ...filter, resourceSubscriptions: [...uris] } },
  };
}

interface Follower {
  readonly surface: McpSurface;
  readonly principal: string;
  readonly connected: ConnectedClient;
  readonly peer?: string | undefined;
  readonly signal: AbortSignal;
}

/** Subscribes the client to what a request names: the id of each subscription by its URI. What cannot be followed is left out. */
export async function subscribeAll(request: ListenRequest, follower: Follower): Promise<Map<string, string>> {
  const { surface, signal, ...who } = follower;
  const { resources, may, offers } = surface;
  const caller: Caller = { name: request.client, origin: 'mcp', may, offers, ...who };
  const followed = new Map<string, string>();
  if (!resources) return followed;
  for (const [index, uri] of request.uris.entries()) {
    try {
      const output = await resources.call(resources.operations.subscribe, { uri }, { caller, signal });
      followed.set(uri, (output as { readonly sub_id: string }).sub_id);
    } catch (thrown) {
      if (!(thrown instanceof FairleadError)) throw thrown;
    }
    if (signal.aborted) break;
    if (index % inARow === inARow - 1) await turn();
  }
  return followed;
}

type Fields = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function firstOf(uris: readonly string[]): string[] {
  const some = new Set<string>();
  for (const uri of uris) {
    if (some.size === mostUris) break;
    some.add(uri);
  }
  return [...some];
}
