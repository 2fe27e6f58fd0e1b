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
import { IdleReaper } from './idle-reaper.ts';
import { sharedLogin, PendingLogins } from './pending-logins.ts';
import { ranked } from './ranked.ts';
import type { SshSettings } from '../settings.ts';

/** `suggest`: say what is there and stop. `auto`: take what is there. `force_new`: do not look. */
export type Reuse = 'suggest' | 'auto' | 'force_new';

export interface SshSessionRequest extends ConnectRequest {
  readonly reuse: Reuse;
  readonly agentId?: string | undefined;
  readonly name?: string | undefined;
  readonly persistent?: boolean | undefined;
  /** The request says whether to compress: then it is worth reporting that compression is off. */
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

/** How long a session may take to say goodbye when the process ends. */
const farewellMs = 500;

/** Every login that is open, each known only to the principal that made it. */
export class SshSessions implements AsyncDisposable {
  /** When a session's health changes, and at every probe. */
  readonly health = new Emitter<HealthEvent>();
  /** After one was opened; `health` tells of its end. */
  readonly opened = new Emitter<LiveSession>();
  readonly #options: SessionsOptions;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, LiveSession>();
  readonly #leaving = new Set<LiveSession>();
  readonly #pending = new PendingLogins();
  readonly #reaper: IdleReaper;
  readonly #closing = new AbortController();
  #connecting = 0;
  #disposed: Promise<void> | undefined;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#reaper = new IdleReaper(options.clock, this.#sessions);
    setMaxListeners(0, this.#closing.signal);
  }

  /** Those of this principal, or of all, the oldest first. */
  all(principal: string | undefined): readonly LiveSession[] {
    return [...this.#sessions.values()].filter((session) => (principal ?? session.principal) === session.principal);
  }

  /** Throws SESSION_NOT_FOUND, with the closest ids of this principal. Counts as a use of the session. */
  find(id: string, principal: string): LiveSession {
    const session = this.#sessions.get(id);
    if (session?.principal !== principal) throw this.notFound(id, principal);
    session.touch();
    return session;
  }

  /** Why there is no session of this id, with similar ids of this principal. */
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
      const pending = this.#pending.find({ way, principal }, request);
      if (!pending) break;
      const made = await sharedLogin(pending, request, signal);
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

  /** The sessions of this principal that still work, after probing each. */
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

  /** Ends a session its maker no longer needs, unless it was shared or is busy. Tells whether it did. */
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
    this.#reaper[Symbol.dispose]();
    const making = this.#pending.settled();
    const ending = [...this.#sessions.values(), ...this.#leaving].map((session) =>
      session.end({ by: 'disconnect' }, farewellMs),
    );
    await Promise.all([...ending, making]);
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

  async #create(way: string, request: SshSessionRequest, principal: string, signal: AbortSignal) {
    const { maxSessions } = this.#options.settings;
    if (this.#sessions.size + this.#connecting >= maxSessions) {
      throw remoteError('MAX_SESSIONS_EXCEEDED', `All ${maxSessions} sessions are in use`, {
        context: `limit=${maxSessions}`,
      });
    }
    const login = this.#make(way, request, principal, signal);
    return await this.#pending.during({ way, principal }, request, login);
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
      // The login succeeded in the moment it was given up.
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
      quiet: () => this.#reaper.arm(),
      health: (health) => this.#tell({ session, health, at: this.#clock.now() }),
      over: () => {
        this.#sessions.delete(session.id);
        this.#leaving.add(session);
      },
      gone: () => this.#leaving.delete(session),
    });
    this.#sessions.set(session.id, session);
    this.#reaper.arm();
    this.opened.emit(session);
    return session;
  }

  #tell(event: HealthEvent): void {
    try {
      this.health.emit(event);
    } catch {
      // A listener that breaks must not keep a session from ending.
    }
  }
}

function shared(session: LiveSession): LiveSession {
  session.shared = true;
  session.touch();
  return session;
}

const shuttingDown = (): FairleadError => new FairleadError('unavailable', 'The server is shutting down.');
