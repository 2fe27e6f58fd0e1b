import type { Stretch } from './resource.ts';
import type { LagPolicy } from './settings.ts';

/** Something in a lane's queue, in the order of the stream. */
export type LaneItem =
  /** Announced and not delivered. */
  | ({ readonly kind: 'range' } & Stretch)
  /** Everything since the last delivery, in place of a queue that overflowed. */
  | ({ readonly kind: 'snapshot' } & Stretch)
  /** Here so many events, with this many bytes (or events of a JSON resource) between them, were dropped. */
  | { readonly kind: 'lagged'; readonly events: number; readonly units: number; readonly at: number };

interface QueuedRange {
  readonly kind: 'range' | 'snapshot';
  from: number;
  to: number;
  /** Announcements that are in it. */
  events: number;
}
interface QueuedGap {
  readonly kind: 'lagged';
  events: number;
  units: number;
  readonly at: number;
}

export interface LaneCounters {
  readonly eventsSent: number;
  readonly bytesSent: number;
  readonly lagDrops: number;
  readonly laggedRecoveries: number;
  readonly queueHighWatermark: number;
  readonly filtered: number;
}

/**
 * The queue of one client on one resource: stretches of the stream that were announced to it and that it has not read, never copies of
 * their bytes. Whatever its policy drops, a reader learns how much and where.
 */
export class Lane {
  readonly policy: LagPolicy;
  readonly #capacity: number;
  #queue: (QueuedRange | QueuedGap)[] = [];
  /** How many ranges are queued: gaps take no room. */
  #ranges = 0;
  /** Everything before it is delivered, read otherwise, filtered out or reported as dropped. */
  #delivered: number;
  #counters = { eventsSent: 0, bytesSent: 0, lagDrops: 0, laggedRecoveries: 0, queueHighWatermark: 0, filtered: 0 };

  constructor(policy: LagPolicy, capacity: number, from: number) {
    this.policy = policy;
    this.#capacity = capacity;
    this.#delivered = from;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** No event fits without the lag policy. */
  get isFull(): boolean {
    return this.#ranges >= this.#capacity;
  }

  get depth(): number {
    return this.#ranges;
  }

  get delivered(): number {
    return this.#delivered;
  }

  get counters(): LaneCounters {
    return this.#counters;
  }

  /** In order, the oldest first. */
  *items(): Generator<LaneItem, void, void> {
    for (const item of this.#queue) yield { ...item };
  }

  /** One event. Ranges come in the order of the stream and do not overlap. */
  push({ from, to }: Stretch): void {
    const last = this.#queue.at(-1);
    const isSnapshot = last?.kind === 'snapshot';
    if (isSnapshot || (this.isFull && this.policy === 'block_slow')) {
      // A snapshot covers what follows it; and while its producer is being stopped, a lane loses nothing.
      if (last?.kind === 'lagged' || last === undefined) this.#append(from, to);
      else this.#extend(last, to);
    } else if (!this.isFull) this.#append(from, to);
    else if (this.policy === 'drop_newest') this.#gap(to - from, to);
    else if (this.policy === 'drop_oldest') {
      this.#append(from, to);
      this.#dropHead();
    } else {
      this.#append(from, to);
      this.collapse();
    }
  }

  /** An event that ends at `to` is kept out by the filter. */
  pass(to: number): void {
    this.#counters.filtered += 1;
    if (this.isEmpty) this.#delivered = Math.max(this.#delivered, to);
  }

  /** Puts one snapshot since the last delivery in the place of the queue. */
  collapse(): void {
    const ranges = this.#queue.filter((item) => item.kind !== 'lagged');
    const last = ranges.at(-1);
    if (last === undefined) return;
    const events = ranges.reduce((sum, item) => sum + item.events, 0);
    this.#queue = [{ kind: 'snapshot', from: this.#delivered, to: last.to, events }];
    this.#ranges = 1;
    this.#counters.laggedRecoveries += 1;
  }

  /** The queue is this stretch alone from now on, whatever was delivered before. */
  replay({ from, to }: Stretch): void {
    this.#delivered = from;
    this.#queue = [];
    this.#ranges = 0;
    if (to > from) this.#append(from, to);
  }

  /** Everything before `to` has reached the client, `bytes` of it through this lane, or was reported to it as gone. */
  deliver(to: number, bytes: number): void {
    let events = 0;
    while (this.#queue.length > 0) {
      const [head] = this.#queue as [QueuedRange | QueuedGap];
      if (head.kind === 'lagged') {
        if (head.at > to) break;
        this.#queue.shift();
        continue;
      }
      if (head.to > to) {
        head.from = Math.max(head.from, to);
        break;
      }
      events += head.events;
      this.#ranges -= 1;
      this.#queue.shift();
    }
    this.#delivered = Math.max(this.#delivered, to);
    this.#counters.bytesSent += bytes;
    if (bytes > 0) this.#counters.eventsSent += Math.max(events, 1);
  }

  /** The client has read up to `to` in another way. */
  acknowledge(to: number): void {
    this.deliver(to, 0);
  }

  /** Events whose bytes were gone before the client read them. */
  lost(events: number): void {
    this.#counters.lagDrops += events;
  }

  #append(from: number, to: number): void {
    this.#queue.push({ kind: 'range', from, to, events: 1 });
    this.#ranges += 1;
    this.#counters.queueHighWatermark = Math.max(this.#counters.queueHighWatermark, this.#ranges);
  }

  #extend(range: QueuedRange, to: number): void {
    range.to = to;
    range.events += 1;
  }

  #gap(units: number, at: number): void {
    this.#counters.lagDrops += 1;
    const last = this.#queue.at(-1);
    if (last?.kind === 'lagged')
      this.#queue[this.#queue.length - 1] = { ...last, events: last.events + 1, units: last.units + units, at };
    else this.#queue.push({ kind: 'lagged', events: 1, units, at });
  }

  #dropHead(): void {
    const index = this.#queue.findIndex((item) => item.kind !== 'lagged');
    const head = this.#queue[index] as QueuedRange;
    const before = this.#queue[index - 1] as QueuedGap | undefined;
    this.#counters.lagDrops += head.events;
    const gap: QueuedGap = {
      kind: 'lagged',
      events: (before?.events ?? 0) + head.events,
      units: (before?.units ?? 0) + head.to - head.from,
      at: head.to,
    };
    this.#queue.splice(0, index + 1, gap);
    this.#ranges -= 1;
  }
}
