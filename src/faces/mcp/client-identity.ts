import type { ServerContext } from '@modelcontextprotocol/server';
import type { Client } from '../../engine/call/call.ts';
import { peerOf } from './http/web.ts';

/** Where clients put the id of their conversation: it outlives connections and tells two windows of one program apart. */
const conversationIds = ['fairlead/client', 'openai/session', 'vscode.conversationId', 'sessionID'];

/** Longer ones are no ids. */
const maxId = 200;

/** What is known of an HTTP client besides its request. */
export interface HttpClient {
  /** Of the 2025 protocols; since 2026 there is none. */
  readonly session?: string | undefined;
}

/**
 * Which of the clients of an endpoint calls. The id of a conversation says it best, then the session. A request without either
 * has only its client's name: two programs of one name share a default terminal, and the connection tells when that happens.
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
