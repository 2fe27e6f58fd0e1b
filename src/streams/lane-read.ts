import type { Pattern } from '../engine/waiting/pattern.ts';
import type { Lane, LaneItem } from './lane.ts';
import type { LineFilter } from './line-filter.ts';
import type { JsonContent, ResourceEnd, ResourceEvent, TextContent, TextPart } from './resource.ts';
import { heldBack, lengthOf } from './text-read.ts';

/** What a client gets of its lane at one time. */
export interface LaneRead {
  /** Of a text; plain or raw is for the caller to decide. */
  readonly parts: readonly TextPart[];
  /** Of a JSON resource: its own events, and those of the lane. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
  /** Where the next read begins. */
  readonly cursor: number;
  /** Events the lag policy dropped, and bytes (or events) that are gone, for whichever reason. */
  readonly laggedEvents: number;
  readonly truncated: number;
  /** Bytes (or events) that were gone before they could be read, in spite of a policy that drops none. */
  readonly lostUnits: number;
  /** A snapshot stands for a queue that overflowed. */
  readonly isRecovered: boolean;
  /** This read tells that the resource is closed: nothing follows. */
  readonly tellsEnd: boolean;
  readonly warnings: readonly string[];
}

interface LaneReading {
  readonly isOver: boolean;
  readonly filter: LineFilter | undefined;
  readonly pattern: Pattern | undefined;
  readonly raw: boolean;
  readonly maxBytes: number;
  readonly isPaused: boolean;
  /** How the resource ended, if its client does not know yet. */
  readonly end: ResourceEnd | undefined;
}

const mostEvents = 256;

/** Takes what fits into one answer out of a lane. */
export function readLane(lane: Lane, content: TextContent | JsonContent, how: LaneReading): LaneRead {
  const reading = new Reading(lane.delivered, how.maxBytes);
  if (!how.isPaused) {
    for (const item of lane.items()) {
      const isTaken =
        item.kind === 'lagged'
          ? reading.gap(item)
          : content.type === 'text'
            ? reading.text(content, item, how.filter)
            : reading.events(content, item, how.pattern);
      if (!isTaken) break;
    }
    if (content.type === 'text') reading.holdBack(content, how);
    lane.deliver(reading.cursor, reading.size);
    lane.lost(reading.lostEvents);
  }
  const tellsEnd = how.end !== undefined && !how.isPaused && lane.isEmpty;
  const { exitCode, reason } = how.end ?? {};
  const last = { kind: 'closed', reason, ...(exitCode === undefined ? {} : { exit_code: exitCode }) };
  return {
    parts: reading.parts,
    events: tellsEnd && content.type === 'json' ? [...reading.eventList, last] : reading.eventList,
    cursor: reading.cursor,
    laggedEvents: reading.laggedEvents,
    truncated: reading.truncated,
    lostUnits: reading.lostUnits,
    isRecovered: reading.isRecovered,
    tellsEnd,
    warnings: [],
  };
}

class Reading {
  cursor: number;
  size = 0;
  parts: TextPart[] = [];
  eventList: Readonly<Record<string, unknown>>[] = [];
  laggedEvents = 0;
  truncated = 0;
  lostUnits = 0;
  lostEvents = 0;
  isRecovered = false;
  readonly #maxBytes: number;
  #items = 0;

  constructor(cursor: number, maxBytes: number) {
    this.cursor = cursor;
    this.#maxBytes = maxBytes;
  }

  get #isFull(): boolean {
    return this.#items >= mostEvents || this.size >= this.#maxBytes;
  }

  gap({ events, units, at }: Extract<LaneItem, { kind: 'lagged' }>): boolean {
    this.laggedEvents += events;
    this.truncated += units;
    this.cursor = Math.max(this.cursor, at);
    this.eventList.push({ kind: 'lagged', dropped: events });
    return true;
  }

  /** False when the answer is full: what is left stays in the lane. */
  text(content: TextContent, item: Exclude<LaneItem, { kind: 'lagged' }>, filter: LineFilter | undefined): boolean {
    if (this.#isFull) return false;
    this.#items += 1;
    this.isRecovered ||= item.kind === 'snapshot';
    this.#lose(Math.min(content.start, item.to) - Math.max(item.from, this.cursor));
    for (const span of filter ? filter.select(content, item) : [item]) {
      const { parts, to } = content.read(span, this.#maxBytes - this.size);
      this.parts.push(...parts);
      this.size += lengthOf(parts);
      this.cursor = Math.max(this.cursor, to);
      if (to < span.to) return false;
    }
    this.cursor = Math.max(this.cursor, item.to);
    return true;
  }

  events(content: JsonContent, item: Exclude<LaneItem, { kind: 'lagged' }>, pattern: Pattern | undefined): boolean {
    if (this.#isFull) return false;
    this.isRecovered ||= item.kind === 'snapshot';
    this.#lose(Math.min(content.start, item.to) - item.from);
    if (item.kind === 'snapshot') this.eventList.push({ kind: 'snapshot', cursor: item.to, bytes: 0 });
    for (const event of content.read(item)) {
      if (this.#isFull) return false;
      this.cursor = event.seq;
      if (pattern && !pattern.exec(JSON.stringify(event))) continue;
      this.#take(event);
    }
    this.cursor = Math.max(this.cursor, item.to);
    return true;
  }

  /** The rest of a character or an escape sequence at the end of all there is may still come. */
  holdBack(content: TextContent, { isOver, filter, raw }: LaneReading): void {
    if (isOver || filter || raw || this.cursor < content.end) return;
    const { parts, held } = heldBack(this.parts);
    this.parts = [...parts];
    this.cursor -= held;
    this.size -= held;
  }

  #take(event: ResourceEvent): void {
    this.#items += 1;
    this.size += JSON.stringify(event).length;
    this.eventList.push(event);
  }

  #lose(units: number): void {
    if (units <= 0) return;
    this.lostUnits += units;
    this.truncated += units;
    this.lostEvents += 1;
  }
}
