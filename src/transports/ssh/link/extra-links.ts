import type { Clock } from '../../../lib/clock.ts';
import { Keepalive } from './keepalive.ts';
import { LinkSlots } from './link-slots.ts';
import type { SshLink } from './link.ts';

interface ExtraLinksOptions {
  /** Another login to the same place, where that needs no person. */
  readonly again: ((signal: AbortSignal) => Promise<SshLink>) | undefined;
  readonly clock: Clock;
  readonly max: number | undefined;
  /** There is a link more or less, or no hope of one for now. */
  readonly changed: () => void;
  /** Takes over work that ends before the session does. */
  readonly own: (work: Promise<void>) => void;
}

/** What waits for a channel. */
export interface SlotQueue {
  readonly length: number;
  /** When the first of them began to wait. */
  readonly since: number;
  /** When a channel was last opened. */
  readonly lastStart: number;
}

/** A queue that moves needs no further link; one that stands still for so long does. */
const stalledMs = 100;
const longWaitMs = 1_000;
/** Servers drop logins when too many are under way (OpenSSH: MaxStartups 10). */
const maxLogins = 4;
const idleMs = 10_000;
/** After a login that failed, none is tried for so long. */
const afterFailureMs = 30_000;

/** Links of a session besides its first: made while its queue stands still, closed when they are idle. */
export class ExtraLinks implements AsyncDisposable {
  readonly #options: ExtraLinksOptions;
  readonly #links = new Set<LinkSlots>();
  readonly #closing = new AbortController();
  #logins = 0;
  #noLoginBefore = 0;

  constructor(options: ExtraLinksOptions) {
    this.#options = options;
  }

  get all(): readonly LinkSlots[] {
    return [...this.#links];
  }

  /**
   * When this queue will have stood still, or its first have waited, for so long that another link is worth a login. `limit`: how
   * many channels the server gives to a link, once that is known.
   */
  dueAt({ length, since, lastStart }: SlotQueue, limit: number | undefined): number | undefined {
    const { again, max = 11 } = this.#options;
    if (!again || length === 0 || limit === undefined || this.#closing.signal.aborted) return undefined;
    if (this.#links.size + this.#logins >= max || this.#logins >= maxLogins) return undefined;
    // Logins under way may bring channels enough.
    if (this.#logins * Math.max(1, limit) >= length) return undefined;
    return Math.max(this.#noLoginBefore, Math.min(lastStart + stalledMs, since + longWaitMs));
  }

  /** Logs in as often as the queue is due for it now. */
  addFor(queue: SlotQueue, limit: number | undefined): void {
    const { clock, own } = this.#options;
    for (
      let at = this.dueAt(queue, limit);
      at !== undefined && at <= clock.monotonic();
      at = this.dueAt(queue, limit)
    ) {
      own(this.#add(limit));
    }
  }

  /** Closes the link unless a channel of it is used again soon. */
  freed(lane: LinkSlots): void {
    if (!this.#links.has(lane) || lane.inUse > 0 || this.#closing.signal.aborted) return;
    const { clock, own } = this.#options;
    lane.idle?.[Symbol.dispose]();
    lane.idle = clock.after(idleMs, () => {
      if (lane.inUse === 0 && this.#links.delete(lane)) own(disposed(lane.link));
    });
  }

  /** Stops logins under way. Open links stay open. */
  refuse(): void {
    this.#closing.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.refuse();
    const links = this.all;
    this.#links.clear();
    for (const lane of links) lane.idle?.[Symbol.dispose]();
    await Promise.all(links.map(({ link }) => link[Symbol.asyncDispose]()));
  }

  async #add(limit: number | undefined): Promise<void> {
    const { again, clock, changed, own } = this.#options;
    let link: SshLink | undefined;
    this.#logins += 1;
    try {
      link = await again?.(this.#closing.signal);
    } catch {
      // No caller asked for this link: the queue moves as it did before.
      this.#noLoginBefore = clock.monotonic() + afterFailureMs;
    } finally {
      this.#logins -= 1;
    }
    if (link === undefined) return changed();
    if (this.#closing.signal.aborted) return await link[Symbol.asyncDispose]();
    const made = link;
    const lane = new LinkSlots(link, () => clock.monotonic(), limit);
    this.#links.add(lane);
    const keepalive = new Keepalive(link, clock, { missed: () => {}, dead: () => own(disposed(made)) });
    const gone = (): void => {
      keepalive[Symbol.dispose]();
      lane.idle?.[Symbol.dispose]();
      this.#links.delete(lane);
      changed();
    };
    link.ended.then(gone, gone);
    this.freed(lane);
    changed();
  }
}

export async function disposed(what: AsyncDisposable): Promise<void> {
  await what[Symbol.asyncDispose]();
}
