import type { Pattern } from '../engine/waiting/pattern.ts';
import type { Stretch } from './resource.ts';
import type { LagPolicy } from './settings.ts';

/** Something in a lane's queue, in the order of the stream. */
export type LaneItem = LaneRange | LaneGap;

/** Announced and not delivered. A snapshot stands for a queue that overflowed. */
export interface LaneRange extends Stretch {
  readonly kind: 'range' | 'snapshot';
  /** Announcements that are in it. */
  readonly events: number;
  /** Decides which of its lines (or events) are delivered. */
  readonly pattern: Pattern | undefined;
  /** Before this offset stands the rest of a line that was found to match. */
  readonly matchedTo: number;
}

/** The lag policy dropped this stretch, with so many events. */
export interface LaneGap extends Stretch {
  readonly kind: 'lagged';
  readonly events: number;
}

type Queued<Item> = { -readonly [Field in keyof Item]: Item[Field] };

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
 * their bytes. Of whatever its policy drops, a reader learns how much and where.
 */
export class Lane {
  readonly policy: LagPolicy;
  readonly #capacity: number;
  #queue: (Queued<LaneRange> | Queued<LaneGap>)[] = [];
  /** How many ranges are queued: gaps take no room. */
  #ranges = 0;
  /** Everything before it is delivered, read otherwise, filtered out or reported as dropped. */
  #delivered: number;
  /** What is queued before this offset cannot be delivered before more comes: a character without its end. */
  #heldTo = -1;
  #counters = { eventsSent: 0, bytesSent: 0, lagDrops: 0, laggedRecoveries: 0, queueHighWatermark: 0, filtered: 0 };

  constructor(policy: LagPolicy, capacity: number, from: number) {
    this.policy = policy;
    this.#capacity = capacity;
    this.#delivered = from;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** A read would find something. */
  get hasNews(): boolean {
    const last = this.#queue.at(-1);
    return last !== undefined && last.to > this.#heldTo;
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
  get items(): readonly LaneItem[] {
    return this.#queue;
  }

  /** One event. Events come in the order of the stream and do not overlap. */
  push(span: Stretch, pattern?: Pattern): void {
    const last = this.#queue.at(-1);
    const isCovered = last?.kind === 'snapshot' || (this.isFull && this.policy === 'block_slow');
    if (isCovered && last && last.kind !== 'lagged') {
      // A snapshot stands for what follows it as well; and a lane whose producer is being stopped loses nothing.
      last.to = span.to;
      last.events += 1;
      last.pattern = pattern;
    } else if (!this.isFull) this.#append(span, pattern);
    else if (this.policy === 'drop_newest') this.#dropTail(span);
    else if (this.policy === 'drop_oldest') {
      this.#dropHead();
      this.#append(span, pattern);
    } else {
      this.#append(span, pattern);
      this.collapse();
    }
  }

  /** An event that ends at `to` is kept out by the filter. */
  pass(to: number): void {
    this.#counters.filtered += 1;
    if (this.isEmpty) this.#delivered = Math.max(this.#delivered, to);
  }

  /** Puts one snapshot in the place of everything that is queued. */
  collapse(): void {
    const ranges = this.#queue.filter((item) => item.kind !== 'lagged');
    const [first, last] = [ranges[0], ranges.at(-1)];
    if (first === undefined || last === undefined) return;
    const events = ranges.reduce((sum, item) => sum + item.events, 0);
    const { pattern } = last;
    this.#queue = [{ kind: 'snapshot', from: first.from, to: last.to, events, pattern, matchedTo: first.matchedTo }];
    this.#ranges = 1;
    this.#counters.laggedRecoveries += 1;
  }

  /** The queue is empty from now on, and the stream goes on at `from`, whatever was delivered before. */
  rewind(from: number): void {
    this.#delivered = from;
    this.#heldTo = -1;
    this.#queue = [];
    this.#ranges = 0;
  }

  /** Everything before `to` has reached the client, `sent` of it through this lane, or was reported to it as gone. */
  deliver(to: number, sent: number, matchedTo = 0): void {
    let done = 0;
    for (const item of this.#queue) {
      if (item.to > to) {
        this.#shorten(item, to, matchedTo);
        break;
      }
      if (item.kind !== 'lagged') {
        this.#ranges -= 1;
        if (sent > 0) this.#counters.eventsSent += item.events;
      }
      done += 1;
    }
    this.#queue.splice(0, done);
    this.#delivered = Math.max(this.#delivered, to);
    this.#counters.bytesSent += sent;
  }

  /** What is left of the queue after a read cannot be delivered before more comes. */
  hold(): void {
    this.#heldTo = this.#queue.at(-1)?.to ?? -1;
  }

  /** The client has read up to `to` in another way. */
  acknowledge(to: number): void {
    this.deliver(to, 0);
  }

  /** Events whose bytes were gone before the client read them. */
  lost(events: number): void {
    this.#counters.lagDrops += events;
  }

  #shorten(item: Queued<LaneRange> | Queued<LaneGap>, to: number, matchedTo: number): void {
    if (to <= item.from) return;
    item.from = to;
    if (item.kind === 'lagged') return;
    item.matchedTo = Math.max(item.matchedTo, matchedTo);
    // Its client knows by now that it gets a snapshot.
    item.kind = 'range';
  }

  #append({ from, to }: Stretch, pattern: Pattern | undefined): void {
    this.#queue.push({ kind: 'range', from, to, events: 1, pattern, matchedTo: 0 });
    this.#ranges += 1;
    this.#counters.queueHighWatermark = Math.max(
      this.#counters.queueHighWatermark,
      Math.min(this.#ranges, this.#capacity),
    );
  }

  #dropTail({ from, to }: Stretch): void {
    this.#counters.lagDrops += 1;
    const last = this.#queue.at(-1);
    if (last?.kind === 'lagged') {
      last.to = to;
      last.events += 1;
    } else this.#queue.push({ kind: 'lagged', from, to, events: 1 });
  }

  #dropHead(): void {
    const index = this.#queue.findIndex((item) => item.kind !== 'lagged');
    const head = this.#queue[index];
    if (head === undefined) return;
    const before = this.#queue[index - 1];
    this.#counters.lagDrops += head.events;
    const [from, events] = [before?.from ?? head.from, (before?.events ?? 0) + head.events];
    this.#queue.splice(0, index + 1, { kind: 'lagged', from, to: head.to, events });
    this.#ranges -= 1;
  }
}
