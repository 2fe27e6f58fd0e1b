import { FairleadError } from '../../../contract/errors.ts';
import { remoteError } from '../../../contract/remote-errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { deferred, type Deferred } from '../../../lib/deferred.ts';
import { disposed, ExtraLinks, type SlotQueue } from './extra-links.ts';
import { LinkSlots } from './link-slots.ts';
import type { SshLink, SshProcess } from './link.ts';

/** Shells go first: a person or an agent looks at them. */
export type SlotKind = 'shell' | 'command';

/** How something is started on whichever link has room. */
export type Start = (link: SshLink, signal: AbortSignal) => Promise<SshProcess>;

interface SlotsOptions {
  readonly link: SshLink;
  /** Another login to the same place, where that needs no person. */
  readonly again?: ((signal: AbortSignal) => Promise<SshLink>) | undefined;
  readonly clock: Clock;
  /** Links besides the first. */
  readonly maxExtras?: number | undefined;
}

/** Waiting and opening together. */
const limitMs = 10_000;
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
 * refusals teach the number, and a caller that finds none free waits in order for the end of another one. Where logging
 * in again needs no person, a queue that stands still gets more connections.
 */
export class Slots implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #main: LinkSlots;
  readonly #extras: ExtraLinks;
  readonly #waiting: Waiter[] = [];
  readonly #opening = new Set<Waiter>();
  /** Work that only the end of the session waits for. */
  readonly #background = new Set<Promise<void>>();
  #tickets = 0;
  #lastStart = 0;
  #timer: Disposable | undefined;
  #over: FairleadError | undefined;

  constructor(options: SlotsOptions) {
    const { clock, link, again, maxExtras } = options;
    this.#clock = clock;
    this.#main = new LinkSlots(link, () => clock.monotonic());
    this.#extras = new ExtraLinks({
      again,
      clock,
      max: maxExtras,
      changed: () => this.#pump(),
      own: (work) => this.#own(work),
    });
  }

  /** Channels in use, on all links. */
  get inUse(): number {
    return this.#lanes().reduce((sum, lane) => sum + lane.inUse, 0);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get links(): number {
    return this.#lanes().length;
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

  /** Starts it only if a channel of the first link is free right now; does not wait and overtakes no waiter. */
  async openNow(start: Start, signal: AbortSignal): Promise<SshProcess | undefined> {
    if (this.#over || this.#waiting.length > 0 || !this.#main.hasRoom) return undefined;
    return await this.#startOn(this.#main, start, signal);
  }

  /** Closes a process whose caller has left. */
  abandon(process: SshProcess): void {
    this.#own(disposed(process));
  }

  /** Refuses every waiter and all that come. Open channels stay open. */
  refuse(why: FairleadError): void {
    this.#over ??= why;
    this.#timer?.[Symbol.dispose]();
    this.#extras.refuse();
    for (const waiter of [...this.#waiting, ...this.#opening]) this.#giveUp(waiter, why);
  }

  /** Closes the extra links. The first one belongs to its session. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.refuse(remoteError('TRANSPORT_ERROR', 'The session was closed.'));
    await Promise.all([this.#extras[Symbol.asyncDispose](), ...this.#background]);
  }

  #lanes(): LinkSlots[] {
    return [this.#main, ...this.#extras.all];
  }

  /** Shells before commands, and within a kind by ticket: a waiter that was refused a channel keeps its place. */
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
      this.#extras.freed(lane);
      throw error;
    }
    lane.opened(place);
    const ended = (): void => {
      lane.closed(place);
      this.#extras.freed(lane);
      this.#pump();
    };
    process.ended.then(ended, ended);
    return process;
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
    const at = Math.min(...times, this.#extras.dueAt(this.#queue(), this.#main.limit) ?? Number.POSITIVE_INFINITY);
    if (at === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#clock.after(Math.max(1, at - this.#clock.monotonic()), () => {
      this.#extras.addFor(this.#queue(), this.#main.limit);
      this.#pump();
    });
  }

  #queue(): SlotQueue {
    const { length } = this.#waiting;
    const since = Math.min(...this.#waiting.map((waiter) => waiter.since));
    return { length, since, lastStart: this.#lastStart };
  }

  #own(work: Promise<void>): void {
    const done = work.finally(() => this.#background.delete(done));
    this.#background.add(done);
  }
}

/** Whether the server has no room for another channel, now. */
function isFull(error: unknown): error is FairleadError {
  return error instanceof FairleadError && error.data?.['refused'] === 'slots';
}

const noSlot = (why: string): FairleadError =>
  remoteError('CHANNEL_FAILED', `No channel of the session was free in time: ${why}.`, {
    context: `limit=${limitMs / 1000}s`,
  });
