import type { Clock } from '../lib/clock.ts';
import { BlockBudget } from './block-budget.ts';
import { Debouncer, type FlushCause } from './debouncer.ts';
import type { ResourceNote } from '../engine/call/connected-client.ts';
import type { Peer, PlainSlot } from './peer.ts';
import type { StreamResource } from './resource.ts';
import type { StreamSettings } from './settings.ts';
import type { StreamLane } from './stream-lane.ts';

/** What a resource is to its subscribers. */
export type LifecycleState = 'owned' | 'observed' | 'releasing' | 'closed';

interface TopicParts {
  readonly clock: Clock;
  readonly settings: StreamSettings;
  /** Its own grace timer is about to close it. */
  readonly released: (topic: Topic) => void;
  /** No client follows it any more, and nothing is due. */
  readonly idle: (topic: Topic) => void;
  /** Takes over work that no call waits for. */
  readonly background: (work: Promise<unknown>) => void;
}

/** After the end of a resource its subscriptions are kept for so long, for clients that still have to be told. */
const afterEndMs = 60_000;

/** A resource that clients follow: who they are, when they are told, and what happens when the last one leaves. */
export class Topic implements Disposable {
  readonly resource: StreamResource;
  readonly slots = new Set<PlainSlot>();
  readonly lanes = new Set<StreamLane>();
  readonly #parts: TopicParts;
  readonly #debouncer: Debouncer;
  readonly #listening: readonly (Disposable | undefined)[];
  readonly #budget: BlockBudget;
  /** The lanes for which the far side waits. */
  #blocked: { readonly by: readonly StreamLane[]; readonly hold: Disposable; readonly limit: Disposable } | undefined;
  #releaseTimer: Disposable | undefined;
  #endTimer: Disposable | undefined;
  #isOver = false;

  constructor(resource: StreamResource, parts: TopicParts) {
    this.resource = resource;
    this.#parts = parts;
    this.#budget = new BlockBudget(parts.clock);
    this.#debouncer = new Debouncer(parts.clock, parts.settings, (cause) => this.#flush(cause));
    this.#listening = [
      resource.onChange(({ bytes, isFinal }) => {
        if (isFinal) this.#finish();
        else this.#debouncer.poke(bytes);
      }),
      resource.onHeld?.(() => this.check()),
    ];
  }

  /** How many subscriptions and lanes it has. */
  get size(): number {
    return this.slots.size + this.lanes.size;
  }

  get state(): LifecycleState {
    if (this.resource.end) return 'closed';
    if (this.#releaseTimer) return 'releasing';
    return this.#isFollowed ? 'observed' : 'owned';
  }

  /** A client follows it, or a person, a recording or a call holds it. */
  get #isObserved(): boolean {
    return this.resource.isHeld?.() === true || this.#isFollowed;
  }

  get #isFollowed(): boolean {
    return [...this.slots].some(({ peer }) => !peer.isAway) || [...this.lanes].some(({ isAway }) => !isAway);
  }

  /** What this client is told of it now; undefined when there is nothing any more. */
  noteFor(peer: Peer, plain: string, isKeepalive = false): ResourceNote | undefined {
    const slot = peer.slots.get(plain);
    const all = [...this.lanes].filter((lane) => lane.request.uri.plain === plain && tells(peer, lane));
    const lanes = all.filter(({ isReady }) => isReady);
    if (!slot && (!peer.hearsOfLanes || (isKeepalive ? all : lanes).length === 0)) return undefined;
    for (const lane of lanes) lane.announce();
    const ids = lanes.map(({ subId }) => subId);
    return {
      kind: 'updated',
      uri: slot?.uri.written ?? plain,
      subIds: slot ? [slot.subId, ...ids] : ids,
      lastSeq: this.resource.lastSeq,
      cursor: this.resource.content.end,
    };
  }

  /** A subscriber came, left, went away or came back, or something else began or ceased to hold the resource. */
  check(): void {
    if (this.#isOver) return;
    this.#countStreams();
    this.#unblock();
    const { release, end } = this.resource;
    if (end) {
      if (this.size === 0) this.#parts.idle(this);
    } else if (this.#isObserved) this.#keep();
    else if (release) this.#releaseTimer ??= this.#parts.clock.after(release.graceMs, () => this.#release());
    else if (this.size === 0) this.#parts.idle(this);
  }

  /** A new subscriber does not wait for a window that others opened, and hears of lanes that have something for it. */
  greet({ peer, uri }: PlainSlot): void {
    this.#debouncer.flush();
    for (const lane of this.lanes) {
      if (lane.isReady && lane.request.uri.plain === uri.plain && tells(peer, lane)) peer.mark(uri.plain);
    }
  }

  /** A new lane, or one that replays, has something to say at once. */
  announce(lane: StreamLane): void {
    if (!lane.isReady) return;
    const { plain } = lane.request.uri;
    for (const peer of this.#tellers(lane)) peer.mark(plain);
  }

  /** There is room in a lane again. */
  drained(): void {
    this.#unblock();
  }

  #flush(cause: FlushCause): void {
    const isKeepalive = cause === 'keepalive';
    for (const lane of this.lanes) lane.flush(cause);
    for (const { peer, uri } of this.slots) peer.mark(uri.plain, isKeepalive);
    for (const lane of this.lanes) {
      if (!isKeepalive && !lane.isReady) continue;
      for (const peer of this.#tellers(lane)) peer.mark(lane.request.uri.plain, isKeepalive);
    }
    if (!isKeepalive) this.#block();
  }

  /** The clients that hear of a lane: its own, or every stream of its principal that names its URI. */
  *#tellers(lane: StreamLane): Generator<Peer, void, void> {
    if (!lane.peer.isStateless) yield lane.peer;
    else
      for (const { peer, uri } of this.slots) if (tells(peer, lane) && uri.plain === lane.request.uri.plain) yield peer;
  }

  #countStreams(): void {
    for (const lane of this.lanes) if (lane.presence) lane.presence.streams = [...this.#tellers(lane)].length;
  }

  #finish(): void {
    if (this.#endTimer) return;
    this.#keep();
    this.#letGo();
    this.#debouncer.finish();
    this.#endTimer = this.#parts.clock.after(afterEndMs, () => this.#parts.idle(this));
    this.check();
  }

  // --- the far side waits for a slow reader ---

  /** A lane that is full and may not stop its producer goes on with a snapshot. */
  #block(): void {
    const full = [...this.lanes].filter(isFull);
    if (full.length === 0 || this.#blocked) return;
    const { block, end, isHeld } = this.resource;
    const leftMs = Math.min(this.#budget.leftMs, this.#parts.settings.blockMs);
    const isAllowed = block && !end && !isHeld?.() && leftMs > 0;
    const by = full.filter((lane) => isAllowed && this.#mayBlock(lane));
    for (const lane of full) if (!by.includes(lane)) lane.overrun();
    if (!block || by.length === 0) return;
    this.#budget.start();
    this.#blocked = { by, hold: block(), limit: this.#parts.clock.after(leftMs, () => this.#letGo()) };
  }

  #mayBlock({ isPaused, isAway, isOver, peer }: StreamLane): boolean {
    const { owner } = this.resource;
    return !isPaused && !isAway && !isOver && (owner === undefined || owner === peer.principal);
  }

  /** Lets the far side go on when no lane that stopped it needs that any more. */
  #unblock(): void {
    const stays = (lane: StreamLane): boolean => isFull(lane) && this.#mayBlock(lane);
    if (this.#blocked && (this.resource.isHeld?.() || !this.#blocked.by.some(stays))) this.#letGo();
  }

  /** Lets the far side go on. Lanes that are still full are behind for good. */
  #letGo(): void {
    if (!this.#blocked) return;
    const { by, hold, limit } = this.#blocked;
    this.#blocked = undefined;
    limit[Symbol.dispose]();
    hold[Symbol.dispose]();
    const ms = this.#budget.stop();
    for (const lane of by) {
      lane.blockedMs += ms;
      if (isFull(lane)) lane.overrun();
    }
  }

  // --- its end when the last subscriber has left ---

  #keep(): void {
    this.#releaseTimer?.[Symbol.dispose]();
    this.#releaseTimer = undefined;
  }

  #release(): void {
    this.#releaseTimer = undefined;
    const { release, end, isHeld, onHeld } = this.resource;
    if (!release || end) return;
    if (isHeld?.()) {
      // It tells when it is let go, or is asked again.
      if (!onHeld) this.#releaseTimer = this.#parts.clock.after(release.graceMs, () => this.#release());
      return;
    }
    this.#parts.released(this);
    this.#parts.background(release.close());
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#keep();
    this.#endTimer?.[Symbol.dispose]();
    this.#debouncer[Symbol.dispose]();
    for (const listening of this.#listening) listening?.[Symbol.dispose]();
    this.#letGo();
  }
}

const isFull = ({ lane }: StreamLane): boolean => lane.policy === 'block_slow' && lane.isFull;

const tells = (peer: Peer, { peer: own }: StreamLane): boolean =>
  peer === own || (own.isStateless && peer.kind === 'listener' && peer.principal === own.principal);
