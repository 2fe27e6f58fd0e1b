import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { FairleadError } from '../../../contract/errors.ts';
import { remoteError } from '../../../contract/remote-errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { Emitter } from '../../../lib/emitter.ts';
import { uuid7 } from '../../../lib/uuid7.ts';
import type { Connected, ConnectRequest, SshConnector } from './connect.ts';
import { type Casualties, LiveSession } from './live-session.ts';
import { nearestIds } from './nearest.ts';
import { ranked } from './ranked.ts';
import type { SshSettings } from '../settings.ts';

/** `suggest`: say what is there and stop. `auto`: take what is there. `force_new`: do not look. */
export type Reuse = 'suggest' | 'auto' | 'force_new';

export interface SshSessionRequest extends ConnectRequest {
  readonly reuse: Reuse;
  readonly agentId?: string | undefined;
  readonly name?: string | undefined;
  readonly persistent?: boolean | undefined;
  /** The caller chose whether to compress: then report that it is off. */
  readonly compressionNamed?: boolean | undefined;
  /** Only sessions of the same agent may be reused. */
  readonly sameAgent?: boolean | undefined;
}

export type ConnectOutcome =
  | {
      readonly status: 'ok';
      readonly session: LiveSession;
      readonly connected: Pick<Connected, 'retries' | 'hostKey' | 'warnings'>;
      /** Sessions to the same place that were found dead and removed. */
      readonly replaced: number;
    }
  | { readonly status: 'reused'; readonly session: LiveSession; readonly replaced: number }
  | { readonly status: 'suggested'; readonly matches: readonly LiveSession[]; readonly replaced: number };

interface HealthEvent {
  readonly session: LiveSession;
  readonly health: 'healthy' | 'unhealthy' | 'disconnected';
  readonly at: number;
}

interface SessionsOptions {
  readonly connector: Pick<SshConnector, 'connect' | 'wayTo'>;
  readonly settings: SshSettings;
  readonly clock: Clock;
}

/** A connection being made, for those who want the same. */
interface Pending {
  readonly key: string;
  readonly request: SshSessionRequest;
  readonly made: Promise<LiveSession>;
}

/** At the end of the process there is no time for an orderly close. */
const farewellMs = 500;

/** Every login that is open, each known only to the principal that made it. */
export class SshSessions implements AsyncDisposable {
  /** When a session's health changes, and at every probe. */
  readonly health = new Emitter<HealthEvent>();
  readonly #options: SessionsOptions;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, LiveSession>();
  readonly #leaving = new Set<LiveSession>();
  readonly #pending = new Set<Pending>();
  readonly #closing = new AbortController();
  #connecting = 0;
  #reaper: Disposable | undefined;
  #disposed: Promise<void> | undefined;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#clock = options.clock;
    setMaxListeners(0, this.#closing.signal);
  }

  /** One's own, the oldest first. */
  all(principal: string): readonly LiveSession[] {
    return [...this.#sessions.values()].filter((session) => session.principal === principal);
  }

  /** Throws SESSION_NOT_FOUND, with the closest ids among one's own. Counts as a use of the session. */
  find(id: string, principal: string): LiveSession {
    const session = this.#sessions.get(id);
    if (session?.principal !== principal) throw this.notFound(id, principal);
    session.touch();
    return session;
  }

  /** Why there is no session of this id, with those of one's own that look like it. */
  notFound(id: string, principal: string): FairleadError {
    return remoteError('SESSION_NOT_FOUND', `no session with id ${id}`, {
      context: id,
      closest: nearestIds(
        id,
        this.all(principal).map((session) => session.id),
      ),
    });
  }

  async connect(request: SshSessionRequest, principal: string, signal: AbortSignal): Promise<ConnectOutcome> {
    const way = await this.#options.connector.wayTo(request, signal);
    let replaced = 0;
    while (request.reuse !== 'force_new') {
      const { alive, dead } = await this.#candidates(way, request, principal, signal);
      replaced += dead;
      if (request.reuse === 'suggest') {
        if (alive.length > 0) return { status: 'suggested', matches: alive, replaced };
        break;
      }
      const session = alive.find(({ healthy }) => healthy);
      if (session) return { status: 'reused', session: shared(session), replaced };
      const pending = this.#pendingFor(way, request, principal);
      if (!pending) break;
      const made = await sharedWith(pending, request, signal);
      if (made !== undefined && made.ended === undefined) return { status: 'reused', session: shared(made), replaced };
    }
    const { session, connected } = await this.#create(way, request, principal, signal);
    return { status: 'ok', session, connected, replaced };
  }

  /** A session known by its id, if its far side still answers. */
  async revive(id: string, principal: string, signal: AbortSignal): Promise<LiveSession | 'dead' | 'unknown'> {
    const session = this.#sessions.get(id);
    if (session?.principal !== principal) return 'unknown';
    if ((await session.probe(signal)) === 'dead') return 'dead';
    return shared(session);
  }

  /** One's own sessions that still work, after asking each. */
  async probed(principal: string, agentId: string | undefined, signal: AbortSignal): Promise<readonly LiveSession[]> {
    const asked = this.all(principal).filter((session) => agentId === undefined || session.agentId === agentId);
    const health = await Promise.all(asked.map((session) => session.probe(signal)));
    return asked.filter((session, at) => health[at] !== 'dead' && session.ended === undefined);
  }

  async disconnect(id: string, principal: string): Promise<Casualties> {
    const session = this.#sessions.get(id);
    if (session?.principal !== principal) throw this.notFound(id, principal);
    return await session.end({ by: 'disconnect' });
  }

  /** Ends a session its maker no longer needs, unless it is shared or in use. Returns whether it did. */
  async release(session: LiveSession): Promise<boolean> {
    if (session.ended !== undefined) return true;
    if (session.shared || session.busy) return false;
    await session.end({ by: 'disconnect' });
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#dispose();
    await this.#disposed;
  }

  async #dispose(): Promise<void> {
    this.#closing.abort();
    this.#reaper?.[Symbol.dispose]();
    const making = [...this.#pending].map(({ made }) => made.catch(() => undefined));
    const ending = [...this.#sessions.values(), ...this.#leaving].map((session) =>
      session.end({ by: 'disconnect' }, farewellMs),
    );
    await Promise.all([...ending, ...making]);
  }

  /** Those that go to the same place, best first, after asking each whether it still answers. */
  async #candidates(way: string, request: SshSessionRequest, principal: string, signal: AbortSignal) {
    const matches = this.all(principal).filter(
      (session) => session.way === way && (request.sameAgent !== true || session.agentId === request.agentId),
    );
    const health = await Promise.all(matches.map((session) => session.probe(signal)));
    const alive = matches.filter((session, at) => health[at] !== 'dead' && session.ended === undefined);
    return { alive: ranked(alive, request.agentId), dead: matches.length - alive.length };
  }

  #pendingFor(way: string, { agentId, sameAgent }: SshSessionRequest, principal: string): Pending | undefined {
    const key = pendingKey(way, principal);
    return [...this.#pending].find((one) => one.key === key && (sameAgent !== true || one.request.agentId === agentId));
  }

  async #create(way: string, request: SshSessionRequest, principal: string, signal: AbortSignal) {
    const { maxSessions } = this.#options.settings;
    if (this.#sessions.size + this.#connecting >= maxSessions) {
      throw remoteError('MAX_SESSIONS_EXCEEDED', `All ${maxSessions} sessions are in use`, {
        context: `limit=${maxSessions}`,
      });
    }
    const making = this.#make(way, request, principal, signal);
    const pending: Pending = {
      key: pendingKey(way, principal),
      request,
      made: making.then(({ session }) => session),
    };
    // Waiters hear of a failure; without waiters, our own caller does.
    pending.made.catch(() => {});
    this.#pending.add(pending);
    try {
      return await making;
    } finally {
      this.#pending.delete(pending);
    }
  }

  async #make(way: string, request: SshSessionRequest, principal: string, signal: AbortSignal) {
    const stop = new AbortController();
    const abort = (): void => stop.abort(signal.reason);
    const close = (): void => stop.abort(shuttingDown());
    signal.addEventListener('abort', abort, { once: true });
    this.#closing.signal.addEventListener('abort', close, { once: true });
    this.#connecting += 1;
    try {
      signal.throwIfAborted();
      if (this.#closing.signal.aborted) throw shuttingDown();
      const connected = await this.#options.connector.connect(request, stop.signal);
      // It connected just as its last waiter left.
      if (stop.signal.aborted) {
        await connected.link[Symbol.asyncDispose]();
        throw stop.signal.reason as Error;
      }
      return { session: this.#adopt(way, request, principal, connected), connected };
    } finally {
      this.#connecting -= 1;
      signal.removeEventListener('abort', abort);
      this.#closing.signal.removeEventListener('abort', close);
    }
  }

  #adopt(way: string, request: SshSessionRequest, principal: string, connected: Connected): LiveSession {
    const facts = {
      id: uuid7(this.#clock.now(), randomBytes(10)),
      principal,
      way,
      agentId: request.agentId,
      name: request.name,
      persistent: request.persistent ?? false,
      compressionDeclined: !connected.compression && request.compressionNamed === true,
      idleLimitMs: this.#options.settings.inactivityTimeoutMs,
    };
    const session: LiveSession = new LiveSession(facts, connected, this.#clock, {
      quiet: () => this.#armReaper(),
      health: (health) => this.#tell({ session, health, at: this.#clock.now() }),
      over: () => {
        this.#sessions.delete(session.id);
        this.#leaving.add(session);
      },
      gone: () => this.#leaving.delete(session),
    });
    this.#sessions.set(session.id, session);
    this.#armReaper();
    return session;
  }

  #tell(event: HealthEvent): void {
    try {
      this.health.emit(event);
    } catch {
      // A listener that breaks must not keep a session from ending.
    }
  }

  /** One timer for all: for the session that will be idle for too long first. */
  #armReaper(): void {
    this.#reaper?.[Symbol.dispose]();
    this.#reaper = undefined;
    if (this.#closing.signal.aborted) return;
    const left = [...this.#sessions.values()].flatMap(({ idleLeftMs }) => idleLeftMs ?? []);
    if (left.length === 0) return;
    this.#reaper = this.#clock.after(Math.max(1, Math.min(...left)), () => this.#reap());
  }

  #reap(): void {
    const idle = [...this.#sessions.values()].filter(({ idleLeftMs }) => idleLeftMs !== undefined && idleLeftMs <= 0);
    for (const session of idle) session.end({ by: 'idle' }).catch(() => {});
    this.#armReaper();
  }
}

/** Undefined: its maker failed for reasons of its own, so try yourself. A failure that would be ours as well is ours. */
async function sharedWith(
  pending: Pending,
  request: SshSessionRequest,
  signal: AbortSignal,
): Promise<LiveSession | undefined> {
  let hangUp: (() => void) | undefined;
  const hungUp = new Promise<never>((_, reject) => {
    hangUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', hangUp, { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([pending.made, hungUp]);
  } catch (error) {
    signal.throwIfAborted();
    const { password, keyPath } = pending.request;
    const same = password === request.password && keyPath === request.keyPath;
    if (same && error instanceof FairleadError) throw error;
    return undefined;
  } finally {
    if (hangUp) signal.removeEventListener('abort', hangUp);
  }
}

function shared(session: LiveSession): LiveSession {
  session.shared = true;
  session.touch();
  return session;
}

const pendingKey = (way: string, principal: string): string => JSON.stringify([principal, way]);

const shuttingDown = (): FairleadError => new FairleadError('unavailable', 'The server is shutting down.');
