import type { FairleadError } from '../../../contract/errors.ts';
import { remoteError } from '../../../contract/remote-errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Connected } from './connect.ts';
import { Keepalive } from '../link/keepalive.ts';
import type { ExecOptions, PtyRequest, SshLink, SshProcess } from '../link/link.ts';
import { type Health, probe } from './probe.ts';
import type { ChildKind, SessionChild, SessionEnd, SshSession } from './session.ts';
import { Slots } from '../link/slots.ts';

interface SessionFacts {
  readonly id: string;
  readonly principal: string;
  /** Where it leads, jumps included (SshConnector.wayTo). */
  readonly way: string;
  readonly agentId: string | undefined;
  readonly name: string | undefined;
  readonly persistent: boolean;
  /** The caller asked for it, and it is off. */
  readonly compressionDeclined: boolean;
  /** 0: never. */
  readonly idleLimitMs: number;
}

/** What a session tells its owner. */
interface SessionWatch {
  /** Its last child has left: it may be idle from now on. */
  readonly quiet: () => void;
  readonly health: (health: 'healthy' | 'unhealthy' | 'disconnected') => void;
  /** It can no longer be used; called before its children are told. */
  readonly over: () => void;
  /** Nothing of it is left. */
  readonly gone: () => void;
}

/** How many children of each kind an end took along. */
export type Casualties = Readonly<Record<ChildKind, number>>;

/** How long children may take over an orderly end. */
const childrenMs = 2_500;

export class LiveSession implements SshSession {
  readonly id: string;
  readonly principal: string;
  readonly way: string;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly agentId: string | undefined;
  readonly name: string | undefined;
  readonly connectedAt: number;
  readonly persistent: boolean;
  readonly compression: boolean;
  readonly compressionDeclined: boolean;
  readonly slots: Slots;
  /** A caller other than its maker was given it. */
  shared = false;
  readonly #link: SshLink;
  readonly #clock: Clock;
  readonly #watch: SessionWatch;
  readonly #idleLimitMs: number;
  readonly #keepalive: Keepalive;
  readonly #children = new Set<SessionChild>();
  #activeAt: number;
  #activeWall: number;
  #healthy = true;
  #ended: SessionEnd | undefined;
  #finishing: Promise<Casualties> | undefined;

  constructor(facts: SessionFacts, connected: Connected, clock: Clock, watch: SessionWatch) {
    const { link, again } = connected;
    this.id = facts.id;
    this.principal = facts.principal;
    this.way = facts.way;
    this.agentId = facts.agentId;
    this.name = facts.name;
    this.persistent = facts.persistent;
    this.compressionDeclined = facts.compressionDeclined;
    this.#idleLimitMs = facts.persistent ? 0 : facts.idleLimitMs;
    this.host = connected.host;
    this.port = connected.port;
    this.username = connected.username;
    this.compression = connected.compression;
    this.#link = link;
    this.#clock = clock;
    this.#watch = watch;
    this.connectedAt = this.#activeWall = clock.now();
    this.#activeAt = clock.monotonic();
    this.slots = new Slots({ link, again, clock });
    this.#keepalive = new Keepalive(link, clock, {
      missed: (count) => this.#note(count === 0),
      dead: () => this.#lost('The server stopped answering.'),
    });
    link.ended.then(
      (end) => this.#lost(end.by === 'lost' ? end.reason : 'The connection was closed.'),
      () => this.#lost('The connection broke.'),
    );
  }

  get ended(): SessionEnd | undefined {
    return this.#ended;
  }

  get healthy(): boolean {
    return this.#healthy && this.#ended === undefined;
  }

  get expiresAt(): number | undefined {
    return this.#idleLimitMs === 0 ? undefined : this.#activeWall + this.#idleLimitMs;
  }

  get busy(): boolean {
    return this.#children.size > 0;
  }

  /** How long it may still do nothing; undefined while it has business, or may be idle for ever. */
  get idleLeftMs(): number | undefined {
    if (this.#idleLimitMs === 0 || this.#children.size > 0) return undefined;
    return this.#activeAt + this.#idleLimitMs - this.#clock.monotonic();
  }

  exec(command: string, options: ExecOptions, signal: AbortSignal, queued?: () => void): Promise<SshProcess> {
    this.touch();
    return this.slots.open('command', (link, stop) => link.exec(command, options, stop), signal, queued);
  }

  shell(pty: PtyRequest, options: Omit<ExecOptions, 'pty'>, signal: AbortSignal): Promise<SshProcess> {
    this.touch();
    return this.slots.open('shell', (link, stop) => link.shell(pty, options, stop), signal);
  }

  touch(): void {
    this.#activeAt = this.#clock.monotonic();
    this.#activeWall = this.#clock.now();
  }

  adopt(child: SessionChild): Disposable {
    if (this.#ended !== undefined) throw this.#gone(this.#ended);
    this.#children.add(child);
    return {
      [Symbol.dispose]: () => {
        if (!this.#children.delete(child) || this.#ended !== undefined) return;
        this.touch();
        if (this.#children.size === 0) this.#watch.quiet();
      },
    };
  }

  count(kind: ChildKind): number {
    let count = 0;
    for (const child of this.#children) if (child.kind === kind) count += 1;
    return count;
  }

  /** Asks the far side whether it still works; one that does not answer at all is over. */
  async probe(signal: AbortSignal): Promise<Health> {
    const health = this.#ended === undefined ? await probe(this.#link, this.slots, this.#clock, signal) : 'dead';
    if (health === 'dead') this.#lost('The server stopped answering.');
    else {
      this.#healthy = health === 'healthy';
      this.#watch.health(health);
    }
    return health;
  }

  /** Ends the session and everything on it. Never rejects; a second end is the first one. */
  async end(end: SessionEnd, limitMs: number = childrenMs): Promise<Casualties> {
    this.#finishing ??= this.#finish(end, limitMs);
    return await this.#finishing;
  }

  async #finish(end: SessionEnd, limitMs: number): Promise<Casualties> {
    this.#ended = end;
    this.#keepalive[Symbol.dispose]();
    const casualties = this.#counts();
    this.#watch.over();
    this.#watch.health('disconnected');
    this.slots.refuse(this.#gone(end));
    const children = [...this.#children];
    this.#children.clear();
    await this.#within(
      limitMs,
      children.map((child) => child.sessionEnded(end)),
    );
    await Promise.allSettled([this.slots[Symbol.asyncDispose](), this.#link[Symbol.asyncDispose]()]);
    this.#watch.gone();
    return casualties;
  }

  async #within(ms: number, work: readonly Promise<void>[]): Promise<void> {
    let limit: Disposable | undefined;
    const late = new Promise<void>((resolve) => {
      limit = this.#clock.after(ms, resolve);
    });
    await Promise.race([Promise.allSettled(work), late]);
    limit?.[Symbol.dispose]();
  }

  #counts(): Casualties {
    const counts = { command: 0, shell: 0, transfer: 0, forward: 0, rsync: 0 };
    for (const { kind } of this.#children) counts[kind] += 1;
    return counts;
  }

  #note(healthy: boolean): void {
    if (this.#healthy === healthy || this.#ended !== undefined) return;
    this.#healthy = healthy;
    this.#watch.health(healthy ? 'healthy' : 'unhealthy');
  }

  /** The link broke on its own. */
  #lost(reason: string): void {
    this.#finishing ??= this.#finish({ by: 'lost', reason }, childrenMs);
  }

  #gone(end: SessionEnd): FairleadError {
    if (end.by === 'lost') return remoteError('TRANSPORT_ERROR', `The session is lost: ${end.reason}`);
    const why = end.by === 'idle' ? 'was idle for too long' : 'was disconnected';
    return remoteError('SESSION_NOT_FOUND', `session ${this.id} ${why}`);
  }
}
