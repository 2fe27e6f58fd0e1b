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
  readonly #listening: Disposable;
  readonly #budget: BlockBudget;
  #blocked: { readonly hold: Disposable; readonly limit: Disposable } | undefined;
  #releaseTimer: Disposable | undefined;
  #endTimer: Disposable | undefined;
  #isOver = false;

  constructor(resource: StreamResource, parts: TopicParts) {
    this.resource = resource;
    this.#parts = parts;
    this.#budget = new BlockBudget(parts.clock);
    this.#debouncer = new Debouncer(parts.clock, parts.settings, (cause) => this.#flush(cause));
    this.#listening = resource.onChange(({ bytes, isFinal }) => {
      if (isFinal) this.#finish();
      else this.#debouncer.poke(bytes);
    });
  }

  /** How many subscriptions and lanes it has. */
  get size(): number {
    return this.slots.size + this.lanes.size;
  }

  get state(): LifecycleState {
    if (this.resource.end) return 'closed';
    if (this.#releaseTimer) return 'releasing';
    return this.#isObserved ? 'observed' : 'owned';
  }

  get #isObserved(): boolean {
    return [...this.slots].some(({ peer }) => !peer.isAway) || [...this.lanes].some(({ isAway }) => !isAway);
  }

  /** What this client is told of it now; undefined when there is nothing any more. */
  noteFor(peer: Peer, plain: string): ResourceNote | undefined {
    const slot = peer.slots.get(plain);
    const lanes = [...this.lanes].filter(
      (lane) => lane.isReady && lane.request.uri.plain === plain && tells(peer, lane),
    );
    if (!slot && lanes.length === 0) return undefined;
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

  /** A subscriber came, left, went away or came back. */
  check(): void {
    this.#countStreams();
    if (this.#isOver) return;
    if (this.resource.end) {
      if (this.size === 0) this.#parts.idle(this);
      return;
    }
    const { release } = this.resource;
    if (this.#isObserved) this.#keep();
    else if (release && !this.#releaseTimer) this.#releaseAfter(release.graceMs);
    else if (!release && this.size === 0) this.#parts.idle(this);
    this.#unblock();
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
    for (const lane of this.lanes) lane.flush(cause);
    for (const { peer, uri } of this.slots) peer.mark(uri.plain);
    for (const lane of this.lanes) {
      if (cause === 'keepalive' && !lane.isPaused && !lane.peer.isStateless) lane.peer.mark(lane.request.uri.plain);
      else if (lane.isReady) for (const peer of this.#tellers(lane)) peer.mark(lane.request.uri.plain);
    }
    if (cause !== 'keepalive') this.#block();
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
    this.#debouncer.finish();
    this.#endTimer = this.#parts.clock.after(afterEndMs, () => this.#parts.idle(this));
  }

  // --- the far side waits for a slow reader ---

  #block(): void {
    const { block, isHeld } = this.resource;
    if (!block || this.#blocked || this.resource.end || isHeld?.()) return;
    const full = [...this.lanes].filter((lane) => this.#mayBlock(lane));
    if (full.length === 0) return;
    const leftMs = Math.min(this.#budget.leftMs, this.#parts.settings.blockMs);
    if (leftMs <= 0) return this.#overrun(full);
    this.#budget.start();
    const hold = block();
    const limit = this.#parts.clock.after(leftMs, () => {
      this.#overrun([...this.lanes].filter((lane) => this.#mayBlock(lane)));
      this.#unblock();
    });
    this.#blocked = { hold, limit };
  }

  #mayBlock({ lane, isPaused, isAway, peer }: StreamLane): boolean {
    const { owner } = this.resource;
    return (
      lane.policy === 'block_slow' &&
      lane.isFull &&
      !isPaused &&
      !isAway &&
      (owner === undefined || owner === peer.principal)
    );
  }

  #overrun(lanes: readonly StreamLane[]): void {
    for (const lane of lanes) lane.overrun();
  }

  #unblock(): void {
    if (!this.#blocked || [...this.lanes].some((lane) => this.#mayBlock(lane))) return;
    const { hold, limit } = this.#blocked;
    this.#blocked = undefined;
    limit[Symbol.dispose]();
    hold[Symbol.dispose]();
    const ms = this.#budget.stop();
    for (const lane of this.lanes) if (lane.lane.policy === 'block_slow') lane.blockedMs += ms;
  }

  // --- its end when the last subscriber has left ---

  #keep(): void {
    this.#releaseTimer?.[Symbol.dispose]();
    this.#releaseTimer = undefined;
  }

  #releaseAfter(graceMs: number): void {
    this.#releaseTimer = this.#parts.clock.after(graceMs, () => {
      this.#releaseTimer = undefined;
      const { release, end, isHeld } = this.resource;
      if (!release || end) return;
      if (isHeld?.()) return this.#releaseAfter(graceMs);
      this.#parts.released(this);
      this.#parts.background(release.close());
    });
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#keep();
    this.#endTimer?.[Symbol.dispose]();
    this.#debouncer[Symbol.dispose]();
    this.#listening[Symbol.dispose]();
    this.#blocked?.limit[Symbol.dispose]();
    this.#blocked?.hold[Symbol.dispose]();
  }
}

const tells = (peer: Peer, { peer: own }: StreamLane): boolean =>
  peer === own || (own.isStateless && peer.kind === 'listener' && peer.principal === own.principal);
