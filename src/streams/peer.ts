import type { ConnectedClient, ResourceNote } from '../engine/call/connected-client.ts';
import type { Clock } from '../lib/clock.ts';
import { Outbox } from './outbox.ts';
import { Presence } from './presence.ts';
import type { StreamLane } from './stream-lane.ts';
import type { Topic } from './topic.ts';
import type { ResourceUri } from './uri.ts';

/** A plain subscription: one for each client and URI. */
export interface PlainSlot {
  readonly subId: string;
  readonly peer: Peer;
  readonly topic: Topic;
  uri: ResourceUri;
  /** How many requests of the client hold it. */
  holders: number;
}

export type PeerKind =
  /** A connection of its own, which ends (stdio, a socket). */
  | 'connection'
  /** A session of HTTP: streams open and close, and it may leave without a word. */
  | 'session'
  /** One stream of notifications, which is all there is of its client. */
  | 'listener'
  /** All requests of a principal that come without any of these. */
  | 'stateless';

const listName = 'list';
/** A client hears of changes to the list at most once in this time. */
const listEveryMs = 1000;

/** One client: what it follows and where it stopped reading. No other client moves any of it. */
export class Peer implements ConnectedClient, Disposable {
  readonly principal: string;
  readonly kind: PeerKind;
  readonly slots = new Map<string, PlainSlot>();
  readonly lanes = new Map<string, StreamLane>();
  /** Offset after the last byte it read, by resource. */
  readonly offsets = new Map<string, number>();
  readonly presence: Presence | undefined;
  /** Whether it hears of changes to the list. */
  hearsOfList: boolean;
  /** Whether it hears of a lane without a subscription to its URI. */
  hearsOfLanes = true;
  readonly #clock: Clock;
  readonly #outbox = new Outbox();
  readonly #end: (peer: Peer) => void;
  #listedAt = Number.NEGATIVE_INFINITY;
  #listTimer: Disposable | undefined;
  #isOver = false;

  constructor(
    kind: PeerKind,
    principal: string,
    clock: Clock,
    on: { readonly away: (peer: Peer) => void; readonly end: (peer: Peer) => void },
  ) {
    this.kind = kind;
    this.principal = principal;
    this.#clock = clock;
    this.#end = on.end;
    this.hearsOfList = kind === 'connection' || kind === 'session';
    if (kind === 'session') this.presence = new Presence(clock, () => on.away(this));
  }

  get isStateless(): boolean {
    return this.kind === 'stateless';
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Holds no resource open and stops no producer. */
  get isAway(): boolean {
    return this.presence?.isAway ?? false;
  }

  /** A resource it follows by this URI has something to tell. */
  mark(plain: string, isKeepalive = false): void {
    this.#outbox.add(plain, isKeepalive);
  }

  /** A subscription or lane is over. When it was the last one by this URI, there is nothing to tell of it any more. */
  unfollow(plain: string): void {
    if (!this.slots.has(plain) && !this.#laneOn(plain)) this.#outbox.delete(plain);
  }

  markList(): void {
    if (!this.hearsOfList || this.#listTimer || this.#isOver) return;
    const left = this.#listedAt + listEveryMs - this.#clock.monotonic();
    if (left <= 0) this.#outbox.add(listName);
    else
      this.#listTimer = this.#clock.after(left, () => {
        this.#listTimer = undefined;
        this.#outbox.add(listName);
      });
  }

  /** How many notes wait for its connection. */
  get waiting(): number {
    return this.#outbox.size;
  }

  /** What to tell it, one note at a time, as fast as it takes them. For one reader at a time; a note at which it stops comes again. */
  async *notes(signal: AbortSignal): AsyncGenerator<ResourceNote, void, void> {
    for await (const { name, isKeepalive } of this.#outbox.notes(signal)) {
      const note = this.#noteOf(name, isKeepalive);
      if (!note) continue;
      let isTold = false;
      try {
        yield note;
        isTold = true;
      } finally {
        if (!isTold) this.#outbox.add(name, isKeepalive);
      }
    }
  }

  #noteOf(name: string, isKeepalive: boolean): ResourceNote | undefined {
    if (name === listName) {
      this.#listedAt = this.#clock.monotonic();
      return { kind: 'listed' };
    }
    const topic = this.slots.get(name)?.topic ?? this.#laneOn(name)?.topic;
    return topic?.noteFor(this, name, isKeepalive);
  }

  #laneOn(plain: string): { readonly topic: Topic } | undefined {
    for (const { request, topic } of this.lanes.values()) if (request.uri.plain === plain) return { topic };
    return undefined;
  }

  /** It is gone, and everything it followed is free. */
  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listTimer?.[Symbol.dispose]();
    this.presence?.[Symbol.dispose]();
    this.#end(this);
  }
}
