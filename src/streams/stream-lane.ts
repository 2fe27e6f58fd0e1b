import type { FairleadError } from '../contract/errors.ts';
import { remoteError } from '../contract/remote-errors.ts';
import type { Clock } from '../lib/clock.ts';
import { closest } from '../lib/closest.ts';
import type { Pattern } from '../engine/waiting/pattern.ts';
import type { FlushCause } from './debouncer.ts';
import { Lane } from './lane.ts';
import { type LaneRead, nothingRead, readLane } from './lane-read.ts';
import { LineFilter } from './line-filter.ts';
import type { Peer } from './peer.ts';
import { Presence } from './presence.ts';
import type { JsonContent, ResourceEnd, StreamResource, TextContent } from './resource.ts';
import type { Topic } from './topic.ts';
import type { LagPolicy, LifetimeName, StreamSettings } from './settings.ts';
import type { ResourceUri } from './uri.ts';
import type { WorkBudget } from './work-budget.ts';

export interface LaneRequest {
  readonly uri: ResourceUri;
  readonly lifetime: LifetimeName;
  readonly graceMs: number;
  readonly ttlMs: number;
  readonly lagPolicy: LagPolicy;
  readonly filter: Pattern | undefined;
}

interface LaneParts {
  readonly subId: string;
  readonly peer: Peer;
  readonly topic: Topic;
  /** By the name that the request has for it. */
  readonly resource: StreamResource;
  readonly clock: Clock;
  readonly settings: Pick<StreamSettings, 'laneBuffer' | 'readBytes'>;
  readonly filtering: WorkBudget;
  /** It is over: its owner forgets it. */
  readonly over: (lane: StreamLane) => void;
  /** There is room in its queue again. */
  readonly drained: (lane: StreamLane) => void;
}

const mostWarnings = 8;
/** Time limit of one read's search for lines that match. At the limit the client is notified that there is more. */
const searchMs = 10;

/** One client's lane on one resource: its queue, filter, pause and lifetime. */
export class StreamLane implements Disposable {
  readonly subId: string;
  readonly request: LaneRequest;
  readonly peer: Peer;
  readonly topic: Topic;
  readonly resource: StreamResource;
  readonly createdAt: number;
  readonly lane: Lane;
  /** Only of a lane that belongs to no connection. */
  readonly presence: Presence | undefined;
  readonly #parts: LaneParts;
  #filter: LineFilter | undefined;
  #pattern: Pattern | undefined;
  #seen: number;
  #isPaused = false;
  #end: ResourceEnd | undefined;
  #isEndTold = false;
  #isAnnounced = false;
  #isOver = false;
  #idleTimer: Disposable | undefined;
  #leaseTimer: Disposable | undefined;
  #expiresAt: number | undefined;
  #warnings: string[] = [];
  #unreported: string[] = [];
  lastEventAt: number | undefined;
  notificationsSent = 0;
  byteFlushes = 0;
  blockedMs = 0;

  constructor(request: LaneRequest, parts: LaneParts) {
    const { subId, peer, topic, resource, clock, settings } = parts;
    this.subId = subId;
    this.request = request;
    this.peer = peer;
    this.topic = topic;
    this.resource = resource;
    this.#parts = parts;
    this.createdAt = clock.now();
    this.#seen = resource.content.end;
    this.lane = new Lane(request.lagPolicy, settings.laneBuffer, this.#seen);
    this.#setFilter(request.filter, this.#seen);
    if (peer.isStateless) this.presence = new Presence(clock, (isAway) => isAway && this[Symbol.dispose]());
    this.#lease();
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** There is something for its client to read. */
  get isReady(): boolean {
    return !this.#isPaused && !this.#isOver && (this.lane.hasNews || (this.#end !== undefined && !this.#isEndTold));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isAway(): boolean {
    return this.presence?.isAway ?? this.peer.isAway;
  }

  /** When its lease ends, in ms since the epoch. */
  get expiresAt(): number | undefined {
    return this.#expiresAt;
  }

  get filter(): Pattern | undefined {
    return this.#pattern;
  }

  /** Judges every line that ends from now on. A line that began before is judged whole, unless a part of it is in the queue already. */
  set filter(pattern: Pattern | undefined) {
    const from = this.#filter?.lineAt ?? this.#seen;
    this.#setFilter(pattern, from);
    if (pattern || from === this.#seen) return;
    this.lane.push({ from, to: this.#seen });
    this.topic.announce(this);
  }

  #setFilter(pattern: Pattern | undefined, from: number): void {
    this.#pattern = pattern;
    const { content } = this.resource;
    this.#filter = pattern && content.type === 'text' ? new LineFilter(pattern, from) : undefined;
  }

  /** The newest ones, for people. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Takes in what is new; the resource is being announced. */
  flush(cause: FlushCause): void {
    if (cause === 'keepalive') return;
    const { content, end } = this.resource;
    if (this.#takeIn(content, end !== undefined)) this.lastEventAt = this.#parts.clock.now();
    this.#seen = content.end;
    if (cause === 'bytes') this.byteFlushes += 1;
    this.#end ??= end;
  }

  /** A notification that names it is on its way. */
  announce(): void {
    this.notificationsSent += 1;
    this.#isAnnounced = true;
    if (!this.#idleTimer) this.#watchIdle();
  }

  /** Its client read the resource, or named the lane in a call. */
  touch(): void {
    this.presence?.touch();
    this.#watchIdle();
  }

  /** The client read the resource up to here in another way. */
  acknowledge(to: number): void {
    this.lane.acknowledge(to);
    // It may be ahead of what was announced.
    this.#seen = Math.max(this.#seen, to);
    this.#filter?.skip(to);
    this.touch();
    this.#settle();
  }

  pause(): void {
    this.#isPaused = true;
    this.#watchIdle();
    // It stops its producer no longer.
    this.#parts.drained(this);
  }

  /** Goes on, and renews a lease. */
  resume(): void {
    this.#isPaused = false;
    this.#lease();
    this.topic.announce(this);
  }

  /** What it has for its client, which counts as delivered. */
  read(raw: boolean): LaneRead {
    this.touch();
    if (this.#isPaused) return nothingRead(this.lane);
    const { clock, settings } = this.#parts;
    const until = clock.monotonic() + searchMs;
    const read = readLane(this.lane, this.resource.content, {
      isOver: this.resource.end !== undefined,
      raw,
      maxBytes: settings.readBytes,
      isFiltered: this.#filter !== undefined,
      isTired: () => clock.monotonic() >= until,
      end: this.#isEndTold ? undefined : this.#end,
    });
    const isText = this.resource.content.type === 'text';
    if (read.lostUnits > 0) this.warn(`LAG_DETECTED ${isText ? 'lost_bytes' : 'lost_events'}=${read.lostUnits}`);
    if (read.tellsEnd) this.#isEndTold = true;
    const warnings = this.#unreported;
    this.#unreported = [];
    this.#settle();
    // A client that reads once for each note is told of what is left over.
    this.topic.announce(this);
    return { ...read, warnings };
  }

  /** The queue is this stretch alone from now on. */
  replay(from: number): number {
    const { content, end } = this.resource;
    this.lane.rewind(from);
    this.#setFilter(this.#pattern, from);
    this.#seen = from;
    // Events are one stretch here, or the lag policy would drop some of those that were asked for.
    if (content.type === 'text') this.#takeIn(content, end !== undefined);
    else if (content.end > from) this.lane.push({ from, to: content.end }, this.#pattern);
    this.#seen = content.end;
    this.touch();
    this.topic.announce(this);
    return content.end - from;
  }

  /** Its producer could not be stopped any longer: it goes on with a snapshot. */
  overrun(): void {
    this.lane.collapse();
    this.warn('LAG_BACKPRESSURE the producer goes on; the next read is a snapshot');
  }

  warn(words: string): void {
    this.#warnings = [...this.#warnings.slice(1 - mostWarnings), words];
    this.#unreported = [...this.#unreported.slice(1 - mostWarnings), words];
  }

  /** True when there is a new event in the queue. */
  #takeIn(content: TextContent | JsonContent, isOver: boolean): boolean {
    if (content.type === 'json') return this.#takeEvents(content);
    if (this.#filter) return this.#takeLines(this.#filter, content, isOver);
    if (content.end === this.#seen) return false;
    this.lane.push({ from: this.#seen, to: content.end });
    return true;
  }

  #takeLines(filter: LineFilter, content: TextContent, isOver: boolean): boolean {
    const fed = this.#parts.filtering.spend((isTired) => filter.feed(content, isOver, isTired));
    if (fed?.from === undefined) {
      if (fed) this.lane.pass(fed.to);
      return false;
    }
    this.lane.push({ from: fed.from, to: fed.to }, filter.pattern);
    return true;
  }

  #takeEvents(content: JsonContent): boolean {
    const gone = content.start > this.#seen;
    if (gone) this.lane.push({ from: this.#seen, to: content.start });
    let isNew = gone;
    for (const event of content.read({ from: this.#seen, to: content.end })) {
      const isKept = !this.#pattern || this.#pattern.test(JSON.stringify(event));
      if (isKept) this.lane.push({ from: event.seq - 1, to: event.seq }, this.#pattern);
      else this.lane.pass(event.seq);
      isNew ||= isKept;
    }
    return isNew;
  }

  #settle(): void {
    if (!this.isReady) this.#isAnnounced = false;
    this.#watchIdle();
    if (!this.lane.isFull) this.#parts.drained(this);
    if (this.#isEndTold && this.lane.isEmpty) this[Symbol.dispose]();
  }

  /** `auto_close` counts only while something announced is unread: a silent resource does not end its lane. */
  #watchIdle(): void {
    this.#idleTimer?.[Symbol.dispose]();
    this.#idleTimer = undefined;
    const { lifetime, graceMs } = this.request;
    if (lifetime !== 'auto_close' || !this.#isAnnounced || !this.isReady) return;
    this.#idleTimer = this.#parts.clock.after(graceMs, () => this[Symbol.dispose]());
  }

  #lease(): void {
    const { lifetime, ttlMs } = this.request;
    if (lifetime !== 'lease' || this.#isOver) return;
    this.#leaseTimer?.[Symbol.dispose]();
    this.#expiresAt = this.#parts.clock.now() + ttlMs;
    this.#leaseTimer = this.#parts.clock.after(ttlMs, () => this[Symbol.dispose]());
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#idleTimer?.[Symbol.dispose]();
    this.#leaseTimer?.[Symbol.dispose]();
    this.presence?.[Symbol.dispose]();
    this.#parts.over(this);
  }
}

/** Names those of the caller's lanes whose ids look like this one. */
export const noLane = (subId: string, own: Iterable<string>): FairleadError =>
  remoteError('SUB_NOT_FOUND', `no lane with id ${subId}`, {
    context: subId,
    // It may be a lane on another URI.
    closest: closest(subId, own).filter((one) => one !== subId),
  });
