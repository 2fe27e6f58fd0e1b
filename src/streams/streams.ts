import { randomBytes } from 'node:crypto';
import { FairleadError } from '../contract/errors.ts';
import { remoteError } from '../contract/remote-errors.ts';
import type { Caller } from '../engine/call/call.ts';
import { serviceKey } from '../engine/call/service.ts';
import type { Engine } from '../engine/engine.ts';
import { closest } from '../lib/closest.ts';
import { uuid7 } from '../lib/uuid7.ts';
import { isLeak, LeakKiller, type LeakWarning, leakWarnings } from './leak-watch.ts';
import { Peer, type PeerKind, type PlainSlot } from './peer.ts';
import { type ResourceRead, readResource } from './read-resource.ts';
import type { ResourceSource, StreamResource } from './resource.ts';
import type { StreamSettings } from './settings.ts';
import { type LaneRequest, StreamLane } from './stream-lane.ts';
import { Tombstones } from './tombstones.ts';
import { Topic } from './topic.ts';
import { parseUri, type ResourceUri, type Scheme } from './uri.ts';

interface StreamsOptions {
  readonly settings: StreamSettings;
  readonly sources: readonly ResourceSource[];
}

type Follower = Pick<Caller, 'principal' | 'connected' | 'offers'>;

/** Everything that can be followed by a URI, and the clients that follow it. Operations find it with `engine.service(streams)`. */
export class Streams implements AsyncDisposable {
  readonly settings: StreamSettings;
  readonly #engine: Engine;
  readonly #sources: ReadonlyMap<Scheme, ResourceSource>;
  readonly #listening: Disposable[];
  readonly #topics = new Map<string, Topic>();
  readonly #peers = new Set<Peer>();
  readonly #stateless = new Map<string, Peer>();
  /** Resources that some client followed, as long as they live. */
  readonly #observed = new Set<string>();
  readonly #released: Tombstones;
  readonly #killer: LeakKiller;

  constructor(engine: Engine, { settings, sources }: StreamsOptions) {
    const { clock } = engine;
    this.settings = settings;
    this.#engine = engine;
    this.#sources = new Map(sources.map((source) => [source.scheme, source]));
    this.#released = new Tombstones(clock);
    const leaks = (): StreamResource[] => this.#everything().filter((one) => isLeak(one, this.#isObserved));
    this.#killer = new LeakKiller(clock, settings, leaks, (work) => engine.background(work));
    this.#listening = sources.map((source) => source.onListChange(() => this.#listChanged()));
  }

  /** The schemes that this caller is served; all, where its door has no offer of its own. */
  schemes({ offers }: Pick<Follower, 'offers'>): readonly Scheme[] {
    return [...this.#sources.keys()].filter((scheme) => offers === undefined || offers(`${scheme}://`));
  }

  /** Clients, subscriptions and lanes at this moment. */
  get counts(): { readonly peers: number; readonly topics: number; readonly subscriptions: number } {
    return { peers: this.#peers.size, topics: this.#topics.size, subscriptions: this.#total };
  }

  /** A client that stays. Its owner disposes it when it is gone. */
  connect(kind: Exclude<PeerKind, 'stateless'>, principal: string): Peer {
    return this.#newPeer(kind, principal);
  }

  /** The client that asks: its connection, or all that its principal asks without one. */
  peerOf({ principal, connected }: Follower): Peer {
    if (connected instanceof Peer && !connected.isOver) return connected;
    let peer = this.#stateless.get(principal);
    if (!peer) {
      peer = this.#newPeer('stateless', principal);
      this.#stateless.set(principal, peer);
    }
    return peer;
  }

  /** What this caller may follow, each thing once. */
  list(caller: Follower): readonly StreamResource[] {
    const keys = new Set<string>();
    return this.#seenBy(caller).filter(({ key }) => !keys.has(key) && keys.add(key));
  }

  warnings(caller: Follower): readonly LeakWarning[] {
    return leakWarnings(this.#seenBy(caller), this.#isObserved, this.#engine.clock, this.settings);
  }

  /** Throws the code of its kind when it is not there, with similar ids. */
  find(uri: ResourceUri, caller: Follower): StreamResource {
    const { principal } = caller;
    const source = this.#sourceOf(uri, caller);
    const found = source.find(uri.id, principal);
    if (found) return found;
    const ids = source.list(principal).map(({ id }) => id);
    throw remoteError(source.missing, `no ${uri.scheme} with id ${uri.id}`, {
      context: uri.id,
      closest: closest(uri.id, ids),
    });
  }

  /** Reads a resource, from where the URI says, or one of the caller's lanes. */
  read(written: string, caller: Follower): ResourceRead {
    const uri = parseUri(written);
    const peer = this.peerOf(caller);
    if (uri.sub === undefined) return readResource(this.find(uri, caller), uri, peer, this.settings.readBytes);
    const lane = peer.lanes.get(uri.sub);
    if (lane?.request.uri.plain !== uri.plain) throw noLane(uri.sub);
    if (uri.raw && lane.filter) {
      throw remoteError('INVALID_ARGUMENT', 'raw=true: a filter works on text', { context: 'clear the filter first' });
    }
    return {
      resource: lane.resource,
      uri,
      lane: { subId: lane.subId, isFiltered: lane.filter !== undefined, ...lane.read(uri.raw) },
    };
  }

  /** Subscribes the caller's connection. Once more: refreshes it. */
  subscribe(written: string, caller: Follower): PlainSlot {
    const uri = parseUri(written);
    const peer = this.peerOf(caller);
    const known = peer.slots.get(uri.plain);
    if (known) {
      known.uri = uri;
      known.holders += 1;
      return known;
    }
    const resource = this.#alive(this.find(uri, caller));
    const topic = this.#topicFor(resource, 'MAX_SUBS_PER_URI_EXCEEDED', 'MAX_SUBS_TOTAL_EXCEEDED');
    const slot: PlainSlot = { subId: this.#newId(), peer, topic, uri, holders: 1 };
    peer.slots.set(uri.plain, slot);
    topic.slots.add(slot);
    topic.check();
    return slot;
  }

  /** No effect where there is no subscription. `all`: for every request that holds it. */
  unsubscribe(written: string, caller: Follower, all = true): void {
    const peer = this.peerOf(caller);
    const slot = peer.slots.get(parseUri(written).plain);
    if (!slot) return;
    slot.holders -= 1;
    if (all || slot.holders <= 0) this.#dropSlot(slot);
  }

  /** Checks, in this order: the URI and the filter (made by the caller), the resource, the limits. A failure leaves nothing behind. */
  openLane(request: LaneRequest, caller: Follower): StreamLane {
    const peer = this.peerOf(caller);
    let resource: StreamResource;
    try {
      resource = this.find(request.uri, caller);
    } catch (cause) {
      const isMissing = cause instanceof FairleadError && cause.code === 'not_found';
      throw isMissing ? this.#gone(request.uri, cause) : cause;
    }
    const topic = this.#topicFor(this.#alive(resource), 'LANE_LIMIT_PER_URI', 'LANE_LIMIT_TOTAL');
    const lane = new StreamLane(request, {
      subId: this.#newId(),
      peer,
      topic,
      clock: this.#engine.clock,
      settings: this.settings,
      over: (one) => this.#dropLane(one),
      drained: () => topic.drained(),
    });
    peer.lanes.set(lane.subId, lane);
    topic.lanes.add(lane);
    topic.check();
    return lane;
  }

  /** One of the caller's lanes. Naming it counts as a sign of life. */
  lane(subId: string, caller: Follower): StreamLane {
    const lane = this.peerOf(caller).lanes.get(subId);
    if (!lane) {
      throw noLane(subId, closest(subId, this.peerOf(caller).lanes.keys()));
    }
    lane.touch();
    return lane;
  }

  lanes(caller: Follower): readonly StreamLane[] {
    return [...this.peerOf(caller).lanes.values()];
  }

  /** Ends everything that is followed. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const listening of this.#listening) listening[Symbol.dispose]();
    for (const peer of this.#peers) peer[Symbol.dispose]();
    for (const topic of this.#topics.values()) topic[Symbol.dispose]();
    this.#topics.clear();
    this.#killer[Symbol.dispose]();
    this.#released[Symbol.dispose]();
  }

  readonly #isObserved = ({ key }: StreamResource): boolean => this.#observed.has(key);

  get #total(): number {
    let total = 0;
    for (const topic of this.#topics.values()) total += topic.size;
    return total;
  }

  #everything(): StreamResource[] {
    return [...this.#sources.values()].flatMap((source) => source.list(undefined));
  }

  #seenBy(caller: Follower): StreamResource[] {
    return this.schemes(caller).flatMap((scheme) => this.#sources.get(scheme)?.list(caller.principal) ?? []);
  }

  #sourceOf({ scheme }: ResourceUri, caller: Follower): ResourceSource {
    const served = this.schemes(caller);
    const source = this.#sources.get(scheme);
    if (source && served.includes(scheme)) return source;
    throw remoteError('FEATURE_DISABLED', `This server has no ${scheme}:// resources`, {
      context: `use ${served.map((one) => `${one}://`).join(', ')}`,
    });
  }

  #newId(): string {
    return uuid7(this.#engine.clock.now(), randomBytes(10));
  }

  #newPeer(kind: PeerKind, principal: string): Peer {
    const peer = new Peer(kind, principal, this.#engine.clock, {
      away: (one) => this.#checkTopicsOf(one),
      end: (one) => this.#dropPeer(one),
    });
    this.#peers.add(peer);
    return peer;
  }

  /** Throws when it is closed: nothing would ever be announced. */
  #alive(resource: StreamResource): StreamResource {
    if (resource.end) throw this.#gone(resource);
    return resource;
  }

  #gone({ scheme, id }: Pick<StreamResource, 'scheme' | 'id'>, cause?: FairleadError): FairleadError {
    const isReleased = this.#released.has(`${scheme} ${id}`);
    const near = cause?.data?.['closest'];
    return remoteError(
      isReleased ? 'GRACE_TIMER_EXPIRED' : 'RESOURCE_GONE',
      isReleased
        ? `${scheme} ${id} closed when its last subscriber had left`
        : `${scheme} ${id} is closed or never was`,
      { context: id, ...(Array.isArray(near) && { closest: near as string[] }), ...(cause && { cause }) },
    );
  }

  #topicFor(resource: StreamResource, perUri: LimitCode, inAll: LimitCode): Topic {
    const { maxSubsPerUri, maxSubsTotal } = this.settings;
    const known = this.#topics.get(resource.key);
    if ((known?.size ?? 0) >= maxSubsPerUri) throw limit(perUri, maxSubsPerUri);
    if (this.#total >= maxSubsTotal) throw limit(inAll, maxSubsTotal);
    this.#observed.add(resource.key);
    if (known) return known;
    const topic = new Topic(resource, {
      clock: this.#engine.clock,
      settings: this.settings,
      released: ({ resource: { scheme, id } }) => this.#released.add(`${scheme} ${id}`),
      idle: (one) => this.#dropTopic(one),
      background: (work) => this.#engine.background(work),
    });
    this.#topics.set(resource.key, topic);
    return topic;
  }

  #listChanged(): void {
    for (const peer of this.#peers) peer.markList();
    this.#killer.arm();
    if (this.#observed.size <= this.#topics.size) return;
    const alive = new Set(this.#everything().map(({ key }) => key));
    for (const key of this.#observed) if (!alive.has(key) && !this.#topics.has(key)) this.#observed.delete(key);
  }

  #checkTopicsOf(peer: Peer): void {
    for (const { topic } of [...peer.slots.values(), ...peer.lanes.values()]) topic.check();
  }

  #dropSlot(slot: PlainSlot): void {
    const { peer, topic, uri } = slot;
    peer.slots.delete(uri.plain);
    topic.slots.delete(slot);
    topic.check();
  }

  #dropLane(lane: StreamLane): void {
    lane.peer.lanes.delete(lane.subId);
    lane.topic.lanes.delete(lane);
    lane.topic.check();
  }

  #dropTopic(topic: Topic): void {
    this.#topics.delete(topic.resource.key);
    topic[Symbol.dispose]();
    for (const slot of topic.slots) this.#dropSlot(slot);
    for (const lane of topic.lanes) lane[Symbol.dispose]();
    for (const peer of this.#peers) peer.offsets.delete(topic.resource.key);
  }

  #dropPeer(peer: Peer): void {
    this.#peers.delete(peer);
    for (const slot of peer.slots.values()) this.#dropSlot(slot);
    for (const lane of peer.lanes.values()) lane[Symbol.dispose]();
  }
}

export const streams = serviceKey<Streams>('streams');

type LimitCode = 'MAX_SUBS_PER_URI_EXCEEDED' | 'MAX_SUBS_TOTAL_EXCEEDED' | 'LANE_LIMIT_PER_URI' | 'LANE_LIMIT_TOTAL';

const limit = (code: LimitCode, most: number): FairleadError =>
  remoteError(code, `${most} subscriptions are open already`, { context: `limit=${most}` });

const noLane = (subId: string, near: readonly string[] = []): FairleadError =>
  remoteError('SUB_NOT_FOUND', `no lane with id ${subId}`, { context: subId, closest: near });
