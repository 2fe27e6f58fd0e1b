import type { Clock } from '../../../lib/clock.ts';
import { EventLog } from '../../../streams/event-log.ts';
import type { JsonContent, ResourceSource, StreamResource } from '../../../streams/resource.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import type { SshSessions } from '../sessions/sessions.ts';

const eventsKept = 64;

interface Followed {
  readonly events: EventLog;
  checkedAt: number | undefined;
}

/** `session://<session id>/health` */
export function sessionSource(sessions: SshSessions, clock: Clock): ResourceSource {
  const followed = new Map<string, Followed>();
  const followedBy = (id: string): Followed => {
    const known = followed.get(id) ?? { events: new EventLog(clock, eventsKept), checkedAt: undefined };
    followed.set(id, known);
    return known;
  };
  sessions.health.on(({ session, health, at }) => {
    const known = followedBy(session.id);
    known.checkedAt = at;
    known.events.append({ kind: health });
    if (health === 'disconnected') followed.delete(session.id);
  });
  const resourceOf = (session: LiveSession): StreamResource => sessionResource(session, followedBy(session.id));
  return {
    scheme: 'session',
    missing: 'SESSION_NOT_FOUND',
    list: (principal) => sessions.all(principal).map(resourceOf),
    find(id, principal) {
      const session = sessions.all(principal).find((one) => one.id === id);
      return session && resourceOf(session);
    },
    onListChange(listener) {
      const opened = sessions.opened.on(listener);
      const ended = sessions.health.on(({ health }) => health === 'disconnected' && listener());
      return {
        [Symbol.dispose]() {
          opened[Symbol.dispose]();
          ended[Symbol.dispose]();
        },
      };
    },
  };
}

function sessionResource(session: LiveSession, followed: Followed): StreamResource {
  const { events } = followed;
  const { id, host, port, username, agentId, name, persistent, compression, connectedAt } = session;
  const content: JsonContent = {
    type: 'json',
    get start() {
      return events.start;
    },
    get end() {
      return events.end;
    },
    body: () => ({
      session_id: id,
      host,
      port,
      username,
      agent_id: agentId ?? null,
      name: name ?? null,
      healthy: session.healthy,
      last_health_check: instant(followed.checkedAt),
      connected_at: instant(connectedAt),
      expires_at: instant(session.expiresAt),
      persistent,
      compression_enabled: compression,
      last_seq: events.end,
    }),
    read: (span) => events.read(span),
  };
  return {
    key: id,
    scheme: 'session',
    id,
    owner: session.principal,
    description: `${username}@${host}:${port}`,
    createdAt: connectedAt,
    get status() {
      return session.healthy ? 'healthy' : 'unhealthy';
    },
    get end() {
      const { ended } = session;
      return ended && { reason: ended.by === 'lost' ? ended.reason : ended.by };
    },
    get lastSeq() {
      return events.end;
    },
    content,
    onChange: (listener) => events.onAppend.on(({ kind }) => listener({ bytes: 0, isFinal: kind === 'disconnected' })),
  };
}

const instant = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString());
