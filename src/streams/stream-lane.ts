import type { Clock } from '../lib/clock.ts';
import type { Pattern } from '../engine/waiting/pattern.ts';
import type { FlushCause } from './debouncer.ts';
import { Lane } from './lane.ts';
import { type LaneRead, readLane } from './lane-read.ts';
import { LineFilter } from './line-filter.ts';
import type { Peer } from './peer.ts';
import { Presence } from './presence.ts';
import type { ResourceEnd, StreamResource } from './resource.ts';
import type { Topic } from './topic.ts';
import type { LagPolicy, LifetimeName, StreamSettings } from './settings.ts';
import type { ResourceUri } from './uri.ts';

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
  readonly clock: Clock;
  readonly settings: Pick<StreamSettings, 'laneBuffer' | 'readBytes'>;
  /** It is over: its owner forgets it. */
  readonly over: (lane: StreamLane) => void;
  /** There is room in its queue again. */
  readonly drained: (lane: StreamLane) => void;
}

/** A lane of a closed resource can be drained for so long. */
const afterEndMs = 60_000;
const mostWarnings = 8;

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
  #endTimer: Disposable | undefined;
  #expiresAt: number | undefined;
  #warnings: string[] = [];
  #unreported: string[] = [];
  lastEventAt: number | undefined;
  notificationsSent = 0;
  byteFlushes = 0;
  blockedMs = 0;

  constructor(request: LaneRequest, parts: LaneParts) {
    const { subId, peer, topic, clock, settings } = parts;
    const { resource } = topic;
    this.subId = subId;
    this.request = request;
    this.peer = peer;
    this.topic = topic;
    this.resource = resource;
    this.#parts = parts;
    this.createdAt = clock.now();
    this.#seen = resource.content.end;
    this.lane = new Lane(request.lagPolicy, settings.laneBuffer, this.#seen);
    this.filter = request.filter;
    if (peer.isStateless) this.presence = new Presence(clock, (isAway) => isAway && this[Symbol.dispose]());
    this.#lease();
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** There is something for its client to read. */
  get isReady(): boolean {
    return !this.#isPaused && !this.#isOver && (!this.lane.isEmpty || (this.#end !== undefined && !this.#isEndTold));
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

  /** Judges what is announced from now on, and what is still in the queue when it is read. */
  set filter(pattern: Pattern | undefined) {
    this.#pattern = pattern;
    const { content } = this.resource;
    this.#filter = pattern && content.type === 'text' ? new LineFilter(pattern, this.#seen) : undefined;
  }

  /** The newest ones, for people. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Takes in what is new; the resource is being announced. */
  flush(cause: FlushCause): void {
    if (cause === 'keepalive') return;
    const { content, end } = this.resource;
    const before = this.lane.depth;
    if (content.type === 'json') this.#flushEvents(content);
    else if (this.#filter) {
      const fed = this.#filter.feed(content, end !== undefined);
      if (fed?.match !== undefined) this.lane.push({ from: fed.match, to: fed.to });
      else if (fed) this.lane.pass(fed.to);
    } else if (content.end > this.#seen) this.lane.push({ from: this.#seen, to: content.end });
    this.#seen = content.end;
    if (this.lane.depth !== before || !this.lane.isEmpty) this.lastEventAt = this.#parts.clock.now();
    if (cause === 'bytes') this.byteFlushes += 1;
    if (end && !this.#end) this.#close(end);
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
    this.touch();
    this.#settle();
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Goes on, and renews a lease. */
  resume(): void {
    this.#isPaused = false;
    this.#lease();
  }

  /** What it has for its client, which counts as delivered. */
  read(raw: boolean): LaneRead {
    this.touch();
    const read = readLane(this.lane, this.resource.content, {
      isOver: this.resource.end !== undefined,
      filter: this.#filter,
      pattern: this.#pattern,
      raw,
      maxBytes: this.#parts.settings.readBytes,
      isPaused: this.#isPaused,
      end: this.#isEndTold ? undefined : this.#end,
    });
    if (read.lostUnits > 0) this.warn(`LAG_DETECTED lost_bytes=${read.lostUnits}`);
    if (read.tellsEnd) this.#isEndTold = true;
    const warnings = this.#unreported;
    this.#unreported = [];
    this.#settle();
    return { ...read, warnings };
  }

  /** The queue is this stretch alone from now on. */
  replay(from: number): number {
    const { end } = this.resource.content;
    this.lane.replay({ from, to: end });
    this.#seen = end;
    if (this.#pattern) this.filter = this.#pattern;
    this.touch();
    return end - from;
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

  #flushEvents(content: Extract<StreamResource['content'], { type: 'json' }>): void {
    if (content.start > this.#seen) this.lane.push({ from: this.#seen, to: content.start });
    for (const event of content.read({ from: this.#seen, to: content.end })) {
      if (this.#pattern && !this.#pattern.exec(JSON.stringify(event))) this.lane.pass(event.seq);
      else this.lane.push({ from: event.seq - 1, to: event.seq });
    }
  }

  #close(end: ResourceEnd): void {
    this.#end = end;
    this.#endTimer = this.#parts.clock.after(afterEndMs, () => this[Symbol.dispose]());
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
    this.#endTimer?.[Symbol.dispose]();
    this.presence?.[Symbol.dispose]();
    this.#parts.over(this);
  }
}
