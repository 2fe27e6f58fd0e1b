import { z } from 'zod';
import { hostAndPort } from '../../transports/ssh/config/address.ts';
import type { LiveSession } from '../../transports/ssh/sessions/live-session.ts';
import type { Step } from './advice.ts';

/** A session in a list. */
export const SessionEntry = z.object({
  session_id: z.string(),
  host: z.string(),
  port: z.number().int(),
  username: z.string(),
  agent_id: z.string().optional(),
  name: z.string().optional(),
  connected_at: z.string(),
  healthy: z.boolean().optional(),
  compression_enabled: z.boolean(),
  compression_declined: z.boolean().optional().describe('Asked for, but not in use'),
});
export type SessionEntry = z.output<typeof SessionEntry>;

export function sessionEntry(session: LiveSession): SessionEntry {
  return {
    session_id: session.id,
    host: session.host,
    port: session.port,
    username: session.username,
    ...ownerFields(session),
    connected_at: atSecond(session.connectedAt),
    healthy: session.healthy,
    compression_enabled: session.compression,
    ...(session.compressionDeclined && { compression_declined: true }),
  };
}

export const ownerFields = ({ agentId, name }: { agentId: string | undefined; name: string | undefined }) => ({
  ...(agentId === undefined ? {} : { agent_id: agentId }),
  ...(name === undefined ? {} : { name }),
});

/** `alice@host:22`, always with the port. */
export const login = ({ username, host, port }: { username: string; host: string; port: number }): string =>
  `${username}@${hostAndPort(host, port)}`;

/** `<id> <login> [agent: …, name: …, …, healthy]` */
export function sessionRow(entry: SessionEntry, more: readonly string[] = []): string {
  const notes = [
    ...(entry.agent_id === undefined ? [] : [`agent: ${entry.agent_id}`]),
    ...(entry.name === undefined ? [] : [`name: ${entry.name}`]),
    ...more,
    ...(entry.compression_declined ? ['compression: off'] : []),
    entry.healthy === false ? 'unhealthy' : 'healthy',
  ];
  return `${entry.session_id} ${login(entry)} [${notes.join(', ')}]`;
}

/** `2026-05-02T18:00:00Z` */
export const atSecond = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** `2026-05-02T18:00:00+00:00`, as the reference prints deadlines. */
export const deadline = (ms: number): string => atSecond(ms).replace(/Z$/, '+00:00');

/** More sessions of one agent look like a leak. */
const fewSessions = 5;

/** A hint about the agent with the most sessions, if they look like a leak. */
export function leakHint(sessions: readonly LiveSession[]): Step | undefined {
  const counts = new Map<string, number>();
  for (const { agentId, healthy } of sessions) {
    if (agentId !== undefined && healthy) counts.set(agentId, (counts.get(agentId) ?? 0) + 1);
  }
  const [agent, count = 0] = [...counts].toSorted((a, b) => b[1] - a[1])[0] ?? [];
  if (count <= fewSessions) return undefined;
  return {
    needs: ['ssh_disconnect_agent'],
    text: `agent '${agent}' owns ${count} sessions; consider ssh_disconnect_agent to bulk-cleanup`,
  };
}
