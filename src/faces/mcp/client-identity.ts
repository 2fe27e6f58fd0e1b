import type { ServerContext } from '@modelcontextprotocol/server';
import type { Client } from '../../engine/call/call.ts';
import { peerOf } from './http/web.ts';

/** Where clients put the id of their conversation: it outlives connections and tells two windows of one program apart. */
const conversationIds = ['fairlead/client', 'openai/session', 'vscode.conversationId', 'sessionID'];

/** Longer values are not taken for ids. */
const maxId = 200;

/** What is known of an HTTP client apart from its request. */
export interface HttpClient {
  /** Only the 2025 protocols have one. */
  readonly session?: string | undefined;
}

/**
 * Tells the clients of a server apart: by the id of the conversation, else by the session. Without either there is only the client's
 * name: two programs of one name share a default terminal, and the connection shows when that happens.
 */
export function identify({ session }: HttpClient, name: string, { mcpReq, http }: ServerContext): Client {
  const meta: Readonly<Record<string, unknown>> = mcpReq._meta ?? {};
  for (const field of conversationIds) {
    const id = meta[field];
    if (typeof id !== 'string' || id === '' || id.length > maxId) continue;
    const key = `conversation ${name} ${id}`;
    return { key, self: key, leaves: false };
  }
  if (session !== undefined) return { key: sessionKey(session), self: sessionKey(session), leaves: true };
  return { key: `name ${name}`, self: `name ${name} ${peerOf(http?.req) ?? ''}`, leaves: false };
}

export const sessionKey = (session: string): string => `session ${session}`;
