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
import { type LaneRequest, noLane, StreamLane } from './stream-lane.ts';
import { Tombstones } from './tombstones.ts';
import { Topic } from './topic.ts';
import { parseUri, type ResourceUri, type Scheme } from './uri.ts';
import { WorkBudget } from './work-budget.ts';

interface StreamsOptions {
  readonly settings: StreamSettings;
  readonly sources: readonly ResourceSource[];
}

type Follower = Pick<Caller, 'principal' | 'connected' | 'offers'>;

/** Everything that can be followed by a URI, and the clients that follow it. Operations find it with `engine.service(streams)`. */
export class Streams implements AsyncDisposable {
  readonly settings: StreamSettings;
  readonly #engine: Pick<Engine, 'clock' | 'background'>;
  readonly #sources: ReadonlyMap<Scheme, ResourceSource>;
  readonly #listening: Disposable[];
  readonly #topics = new Map<string, Topic>();
  readonly #peers = new Set<Peer>();
  readonly #stateless = new Map<string, Peer>();
  /** Resources that some client followed, as long as they live. */
  readonly #observed = new Set<string>();
  readonly #released: Tombstones;
  readonly #killer: LeakKiller;
  readonly #filtering: WorkBudget;
  /** Subscriptions and lanes. */
  #total = 0;
  /** How many names were worth keeping when they were last looked at. */
  #kept = 0;

  constructor(engine: Pick<Engine, 'clock' | 'background'>, { settings, sources }: StreamsOptions) {
    const { clock } = engine;
    this.settings = settings;
    this.#engine = engine;
    this.#sources = new Map(sources.map((source) => [source.scheme, source]));
    this.#released = new Tombstones(clock);
    this.#filtering = new WorkBudget(clock);
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
    if (connected instanceof Peer) {
      // What came too late must not be taken for the principal's: it would never end.
      if (connected.isOver) throw new FairleadError('cancelled', 'The connection is closed.');
      return connected;
    }
    return this.#stateless.get(principal) ?? this.#newPeer('stateless', principal);
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
    if (lane?.request.uri.plain !== uri.plain) throw noLane(uri.sub, peer.lanes.keys());
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
    if (peer.isStateless) {
      throw remoteError('FEATURE_DISABLED', 'Without a connection there is no place to send updates', {
        context: 'name the URI in subscriptions/listen, or open a lane and read it',
      });
    }
    const known = peer.slots.get(uri.plain);
    if (known) {
      known.uri = uri;
      known.holders += 1;
      return known;
    }
    const resource = this.#alive(this.find(uri, caller), peer);
    const topic = this.#topicFor(resource, 'MAX_SUBS_PER_URI_EXCEEDED', 'MAX_SUBS_TOTAL_EXCEEDED');
    const slot: PlainSlot = { subId: this.#newId(), peer, topic, uri, holders: 1 };
    this.#keep(peer);
    this.#total += 1;
    peer.slots.set(uri.plain, slot);
    topic.slots.add(slot);
    topic.check();
    topic.greet(slot);
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
      throw isMissing ? this.#gone(request.uri, peer, cause) : cause;
    }
    const topic = this.#topicFor(this.#alive(resource, peer), 'LANE_LIMIT_PER_URI', 'LANE_LIMIT_TOTAL');
    const lane = new StreamLane(request, {
      subId: this.#newId(),
      peer,
      topic,
      resource,
      clock: this.#engine.clock,
      settings: this.settings,
      filtering: this.#filtering,
      over: (one) => this.#dropLane(one),
      drained: () => topic.drained(),
    });
    this.#keep(peer);
    this.#total += 1;
    peer.lanes.set(lane.subId, lane);
    topic.lanes.add(lane);
    topic.check();
    return lane;
  }

  /** One of the caller's lanes. Naming it counts as a sign of life. */
  lane(subId: string, caller: Follower): StreamLane {
    const peer = this.peerOf(caller);
    const lane = peer.lanes.get(subId);
    if (!lane) throw noLane(subId, peer.lanes.keys());
    lane.touch();
    return lane;
  }

  /** Undefined where the caller has no such lane. */
  closeLane(subId: string, caller: Follower): StreamLane | undefined {
    const lane = this.peerOf(caller).lanes.get(subId);
    lane?.[Symbol.dispose]();
    return lane;
  }

  /** Lets a lane deliver again, from as far back as there is when `asked` is 0. */
  replay(subId: string, asked: number, caller: Follower): { readonly from: number; readonly units: number } {
    const lane = this.lane(subId, caller);
    const { content } = lane.resource;
    const { start, end } = content;
    const window = content.type === 'text' ? Math.max(start, end - this.settings.replayBytes) : start;
    const from = asked === 0 ? window : asked;
    if (from < window) {
      throw remoteError('RING_BUFFER_OVERFLOW', `from_cursor: ${from} is older than what is kept`, {
        context: `window_start=${window}`,
      });
    }
    if (from > end) {
      throw remoteError('INVALID_ARGUMENT', `from_cursor: ${from} is past the end`, { context: `end=${end}` });
    }
    return { from, units: lane.replay(from) };
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
    if (kind !== 'stateless') this.#keep(peer);
    return peer;
  }

  /** One without a connection is known only as long as it follows something: it never says that it is gone. */
  #keep(peer: Peer): void {
    this.#peers.add(peer);
    if (peer.isStateless) this.#stateless.set(peer.principal, peer);
  }

  #forget(peer: Peer): void {
    if (!peer.isStateless || peer.slots.size + peer.lanes.size > 0) return;
    this.#peers.delete(peer);
    this.#stateless.delete(peer.principal);
  }

  /** Throws when it is closed: nothing would ever be announced. */
  #alive(resource: StreamResource, peer: Peer): StreamResource {
    if (resource.end) throw this.#gone(resource, peer);
    return resource;
  }

  #gone(
    { scheme, id }: Pick<StreamResource, 'scheme' | 'id'>,
    { principal }: Peer,
    cause?: FairleadError,
  ): FairleadError {
    const isReleased = [principal, undefined].some((owner) => this.#released.has(tombstone(id, owner)));
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
    const topic = new Topic(this.#byFirstName(resource), {
      clock: this.#engine.clock,
      settings: this.settings,
      released: ({ resource: { id, owner } }) => this.#released.add(tombstone(id, owner)),
      idle: (one) => this.#dropTopic(one),
      background: (work) => this.#engine.background(work),
    });
    this.#topics.set(resource.key, topic);
    return topic;
  }

  /** Of several names of a thing, the first is the one it is listed by, with what its creator asked for. */
  #byFirstName(resource: StreamResource): StreamResource {
    for (const source of this.#sources.values()) {
      if (source.scheme === resource.scheme) break;
      const found = source.list(undefined).find(({ key }) => key === resource.key);
      if (found) return found;
    }
    return resource;
  }

  #listChanged(): void {
    for (const peer of this.#peers) peer.markList();
    this.#killer.arm();
    // What is remembered of resources goes with them; looking through all of them pays only when much has gathered.
    if (this.#remembered > 2 * this.#kept + 64) this.#tidy();
  }

  get #remembered(): number {
    let names = this.#observed.size;
    for (const { offsets } of this.#peers) names += offsets.size;
    return names;
  }

  #tidy(): void {
    const alive = new Set([...this.#everything().map(({ key }) => key), ...this.#topics.keys()]);
    for (const names of [this.#observed, ...[...this.#peers].map(({ offsets }) => offsets)]) {
      for (const key of names.keys()) if (!alive.has(key)) names.delete(key);
    }
    this.#kept = this.#remembered;
  }

  #checkTopicsOf(peer: Peer): void {
    for (const { topic } of [...peer.slots.values(), ...peer.lanes.values()]) topic.check();
  }

  #dropSlot(slot: PlainSlot): void {
    const { peer, topic, uri } = slot;
    if (!topic.slots.delete(slot)) return;
    this.#total -= 1;
    peer.slots.delete(uri.plain);
    peer.unfollow(uri.plain);
    this.#forget(peer);
    topic.check();
  }

  #dropLane(lane: StreamLane): void {
    const { peer, topic, subId } = lane;
    if (!topic.lanes.delete(lane)) return;
    this.#total -= 1;
    peer.lanes.delete(subId);
    peer.unfollow(lane.request.uri.plain);
    this.#forget(peer);
    topic.check();
  }

  #dropTopic(topic: Topic): void {
    this.#topics.delete(topic.resource.key);
    topic[Symbol.dispose]();
    for (const slot of topic.slots) this.#dropSlot(slot);
    for (const lane of topic.lanes) lane[Symbol.dispose]();
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

const tombstone = (id: string, owner: string | undefined): string => `${id} ${owner ?? ''}`;
