import { FairleadError } from '../../../contract/errors.ts';
import { remoteError } from '../../../contract/remote-errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { deferred, type Deferred } from '../../../lib/deferred.ts';
import { Keepalive } from './keepalive.ts';
import { LinkSlots } from './lane.ts';
import type { SshLink, SshProcess } from './link.ts';

/** Shells go first: they are interactive. */
export type SlotKind = 'shell' | 'command';

/** How something is started on whichever link has room. */
export type Start = (link: SshLink, signal: AbortSignal) => Promise<SshProcess>;

interface SlotsOptions {
  readonly link: SshLink;
  /** Another login to the same place, if it needs no person. */
  readonly again?: ((signal: AbortSignal) => Promise<SshLink>) | undefined;
  readonly clock: Clock;
  /** Links besides the first. */
  readonly maxExtras?: number | undefined;
}

/** Waiting and opening together. */
const limitMs = 10_000;
/** A queue that moves needs no further link; one that stands still for so long does. */
const stalledMs = 100;
const longWaitMs = 1_000;
/** Servers drop logins when too many are under way (OpenSSH: MaxStartups 10). */
const maxLogins = 4;
const idleExtraMs = 10_000;
/** After a login that failed, none is tried for so long. */
const afterFailureMs = 30_000;
const maxWaiting = 512;

interface Waiter {
  readonly ticket: number;
  readonly kind: SlotKind;
  readonly start: Start;
  readonly opened: Deferred<SshProcess>;
  /** Aborted when the caller hangs up or time is over. */
  readonly stop: AbortController;
  readonly since: number;
  /** Told when no channel is free for it. */
  readonly queued: (() => void) | undefined;
  refusal?: FairleadError;
}

/**
 * The channels of a session. A server gives few of them to one connection (OpenSSH: ten) and does not say how many; so
 * the number is learned from refusals, and requests beyond it wait in order for the end of another one. Where
 * logging in again needs no person, a queue that stands still gets more connections.
 */
export class Slots implements AsyncDisposable {
  readonly #options: SlotsOptions;
  readonly #clock: Clock;
  readonly #main: LinkSlots;
  readonly #extras = new Set<LinkSlots>();
  readonly #waiting: Waiter[] = [];
  readonly #opening = new Set<Waiter>();
  /** Background work, awaited only at the end. */
  readonly #background = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #tickets = 0;
  #lastStart = 0;
  #logins = 0;
  #noLoginBefore = 0;
  #timer: Disposable | undefined;
  #over: FairleadError | undefined;

  constructor(options: SlotsOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#main = new LinkSlots(options.link, () => this.#clock.monotonic());
  }

  /** Channels in use, on all links. */
  get inUse(): number {
    return this.#lanes().reduce((sum, lane) => sum + lane.inUse, 0);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get links(): number {
    return 1 + this.#extras.size;
  }

  /** `queued` is called when no channel is free, so the caller waits for the end of another one. */
  async open(kind: SlotKind, start: Start, signal: AbortSignal, queued?: () => void): Promise<SshProcess> {
    signal.throwIfAborted();
    if (this.#over) throw this.#over;
    if (this.#waiting.length >= maxWaiting) throw noSlot('too many are waiting for one already');
    const waiter: Waiter = {
      ticket: this.#tickets++,
      kind,
      start,
      opened: deferred<SshProcess>(),
      stop: new AbortController(),
      since: this.#clock.monotonic(),
      queued,
    };
    const hangUp = (): void => this.#giveUp(waiter, signal.reason);
    signal.addEventListener('abort', hangUp, { once: true });
    const late = this.#clock.after(limitMs, () => this.#giveUp(waiter, this.#late(waiter)));
    try {
      this.#enqueue(waiter);
      this.#pump();
      if (this.#waiting.includes(waiter)) queued?.();
      return await waiter.opened.promise;
    } finally {
      late[Symbol.dispose]();
      signal.removeEventListener('abort', hangUp);
    }
  }

  /** Starts it only if a channel of the first link is free right now; neither waits nor jumps the queue. */
  async openNow(start: Start, signal: AbortSignal): Promise<SshProcess | undefined> {
    if (this.#over || this.#waiting.length > 0 || !this.#main.hasRoom) return undefined;
    return await this.#startOn(this.#main, start, signal);
  }

  /** Closes a process without waiters. */
  abandon(process: SshProcess): void {
    this.#own(closed(process));
  }

  /** Nothing more is opened: everybody who waits is told why. What is open stays so. */
  refuse(why: FairleadError): void {
    this.#over ??= why;
    this.#timer?.[Symbol.dispose]();
    this.#closing.abort();
    for (const waiter of [...this.#waiting, ...this.#opening]) this.#giveUp(waiter, why);
  }

  /** Closes the extra links. The first one belongs to its session. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.refuse(remoteError('TRANSPORT_ERROR', 'The session was closed.'));
    const extras = [...this.#extras];
    this.#extras.clear();
    for (const lane of extras) lane.idle?.[Symbol.dispose]();
    await Promise.all([...extras.map((lane) => lane.link[Symbol.asyncDispose]()), ...this.#background]);
  }

  #lanes(): LinkSlots[] {
    return [this.#main, ...this.#extras];
  }

  /** Shells before commands, and within a kind by ticket: who was refused a channel keeps its place. */
  #enqueue(waiter: Waiter): void {
    const behind = this.#waiting.findIndex((other) =>
      other.kind === waiter.kind ? other.ticket > waiter.ticket : waiter.kind === 'shell',
    );
    this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, waiter);
  }

  #pump(): void {
    while (this.#over === undefined && this.#waiting.length > 0) {
      const lane = this.#lanes().find(({ hasRoom }) => hasRoom);
      if (lane === undefined) break;
      const waiter = this.#waiting.shift() as Waiter;
      this.#opening.add(waiter);
      this.#lastStart = this.#clock.monotonic();
      this.#own(this.#serve(waiter, lane));
    }
    this.#arm();
  }

  /** Never rejects. A server without room sends the waiter back to its place in the queue. */
  async #serve(waiter: Waiter, lane: LinkSlots): Promise<void> {
    try {
      const process = await this.#startOn(lane, waiter.start, waiter.stop.signal);
      waiter.opened.resolve(process);
      // Given up in the very moment it came.
      if (waiter.stop.signal.aborted) await process[Symbol.asyncDispose]();
    } catch (error) {
      if (isFull(error)) waiter.refusal = error;
      // What was begun on an extra link that broke can begin anew on another one.
      const again = isFull(error) || (lane !== this.#main && lane.link.end !== undefined);
      if (again && !waiter.stop.signal.aborted) {
        this.#enqueue(waiter);
        waiter.queued?.();
      } else waiter.opened.reject(error);
    } finally {
      this.#opening.delete(waiter);
      this.#pump();
    }
  }

  async #startOn(lane: LinkSlots, start: Start, signal: AbortSignal): Promise<SshProcess> {
    lane.idle?.[Symbol.dispose]();
    const place = lane.begin();
    let process: SshProcess;
    try {
      process = await start(lane.link, signal);
    } catch (error) {
      if (isFull(error)) lane.refused(place);
      else lane.failed(place);
      this.#freed(lane);
      throw error;
    }
    lane.opened(place);
    const ended = (): void => {
      lane.closed(place);
      this.#freed(lane);
      this.#pump();
    };
    process.ended.then(ended, ended);
    return process;
  }

  #freed(lane: LinkSlots): void {
    if (lane === this.#main || lane.inUse > 0 || this.#over !== undefined) return;
    lane.idle?.[Symbol.dispose]();
    lane.idle = this.#clock.after(idleExtraMs, () => {
      if (lane.inUse > 0 || !this.#extras.delete(lane)) return;
      this.#own(closed(lane.link));
    });
  }

  #giveUp(waiter: Waiter, why: unknown): void {
    const at = this.#waiting.indexOf(waiter);
    if (at >= 0) this.#waiting.splice(at, 1);
    waiter.opened.reject(why);
    waiter.stop.abort(why);
    this.#arm();
  }

  #late(waiter: Waiter): FairleadError {
    if (this.#opening.has(waiter)) return noSlot('the server did not answer');
    const { refusal } = waiter;
    return noSlot(this.inUse > 0 ? `all ${this.inUse} are in use` : (refusal?.message ?? 'the server gives none'));
  }

  /** One timer for everything that is not started by the end of a channel. */
  #arm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (this.#over !== undefined || this.#waiting.length === 0) return;
    const times = this.#lanes().flatMap((lane) => lane.retryAt ?? []);
    const at = Math.min(...times, this.#moreLinksAt() ?? Number.POSITIVE_INFINITY);
    if (at === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#clock.after(Math.max(1, at - this.#clock.monotonic()), () => {
      this.#addLinks();
      this.#pump();
    });
  }

  /** When the queue will have stood still, or its first have waited, for so long that it deserves more links. */
  #moreLinksAt(): number | undefined {
    const { again, maxExtras = 11 } = this.#options;
    const head = this.#waiting[0];
    if (!again || !head || this.#main.limit === undefined) return undefined;
    if (this.#extras.size + this.#logins >= maxExtras || this.#logins >= maxLogins) return undefined;
    if (this.#expected() >= this.#waiting.length) return undefined;
    const first = Math.min(...this.#waiting.map(({ since }) => since));
    return Math.max(this.#noLoginBefore, Math.min(this.#lastStart + stalledMs, first + longWaitMs));
  }

  /** Channels that logins under way will bring. */
  #expected(): number {
    return this.#logins * Math.max(1, this.#main.limit ?? 1);
  }

  #addLinks(): void {
    for (let at = this.#moreLinksAt(); at !== undefined && at <= this.#clock.monotonic(); at = this.#moreLinksAt()) {
      this.#own(this.#addLink());
    }
  }

  #own(work: Promise<void>): void {
    const done = work.finally(() => this.#background.delete(done));
    this.#background.add(done);
  }

  async #addLink(): Promise<void> {
    let link: SshLink;
    this.#logins += 1;
    try {
      link = await (this.#options.again as NonNullable<SlotsOptions['again']>)(this.#closing.signal);
    } catch {
      // No caller asked for this link, so no caller hears of its failure: the queue moves as before.
      this.#noLoginBefore = this.#clock.monotonic() + afterFailureMs;
      this.#arm();
      return;
    } finally {
      this.#logins -= 1;
    }
    if (this.#over !== undefined) return await link[Symbol.asyncDispose]();
    const lane = new LinkSlots(link, () => this.#clock.monotonic(), this.#main.limit);
    this.#extras.add(lane);
    const keepalive = new Keepalive(link, this.#clock, { missed: () => {}, dead: () => this.#own(closed(link)) });
    const gone = (): void => {
      keepalive[Symbol.dispose]();
      lane.idle?.[Symbol.dispose]();
      this.#extras.delete(lane);
      this.#pump();
    };
    link.ended.then(gone, gone);
    this.#freed(lane);
    this.#pump();
  }
}

/** Whether the server has no room for another channel, now. */
function isFull(error: unknown): error is FairleadError {
  return error instanceof FairleadError && error.data?.['refused'] === 'slots';
}

async function closed(what: AsyncDisposable): Promise<void> {
  await what[Symbol.asyncDispose]();
}

const noSlot = (why: string): FairleadError =>
  remoteError('CHANNEL_FAILED', `No channel of the session was free in time: ${why}.`, {
    context: `limit=${limitMs / 1000}s`,
  });
