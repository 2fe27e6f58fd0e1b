import type { Lane, LaneRange } from './lane.ts';
import { matchingSpans } from './line-filter.ts';
import type { JsonContent, ResourceEnd, ResourceEvent, Stretch, TextContent, TextPart } from './resource.ts';
import { heldBack, joinedParts, lengthOf, longestHeld } from './text-read.ts';

/** What a client gets of its lane at one time. */
export interface LaneRead {
  /** Of a text; plain or raw is for the caller to decide. */
  readonly parts: readonly TextPart[];
  /** Of a JSON resource: its own events, and those of the lane. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
  /** Where this read began, after what is gone, and where the next one begins. */
  readonly from: number;
  readonly cursor: number;
  /** Events the lag policy dropped, and bytes (or events) that are gone, for whichever reason: all of them before the first byte here. */
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

export interface LaneReading {
  /** No more comes. */
  readonly isOver: boolean;
  readonly raw: boolean;
  readonly maxBytes: number;
  /** The lane is filtered from now on: what is queued without a filter is not continued. */
  readonly isFiltered: boolean;
  /** Whether to stop looking for lines that match, so that the main loop gets its turn. */
  readonly isTired: () => boolean;
  /** How the resource ended, if its client does not know yet. */
  readonly end: ResourceEnd | undefined;
}

/** The same for a lane that is paused. */
export const nothingRead = ({ delivered }: Lane): LaneRead => ({
  parts: [],
  events: [],
  from: delivered,
  cursor: delivered,
  laggedEvents: 0,
  truncated: 0,
  lostUnits: 0,
  isRecovered: false,
  tellsEnd: false,
  warnings: [],
});

const mostEvents = 256;

/** Takes what fits into one answer out of a lane. It never goes across a gap: whatever is gone was before the first byte of a read. */
export function readLane(lane: Lane, content: TextContent | JsonContent, how: LaneReading): LaneRead {
  const reading = content.type === 'text' ? new TextReading(lane, content, how) : new EventReading(lane, content, how);
  reading.run();
  lane.deliver(reading.cursor, reading.size, reading.matchedTo);
  lane.lost(reading.lostEvents);
  if (reading.isHeld) lane.hold();
  const tellsEnd = how.end !== undefined && lane.isEmpty;
  if (tellsEnd && content.type === 'json') reading.events.push(closedEvent(how.end));
  const { parts, events, from, cursor, laggedEvents, truncated, lostUnits, isRecovered } = reading;
  return { parts, events, from, cursor, laggedEvents, truncated, lostUnits, isRecovered, tellsEnd, warnings: [] };
}

const closedEvent = ({ reason, exitCode }: ResourceEnd) => ({
  kind: 'closed',
  reason,
  ...(exitCode !== undefined && { exit_code: exitCode }),
});

abstract class Reading {
  from: number;
  cursor: number;
  size = 0;
  matchedTo = 0;
  parts: readonly TextPart[] = [];
  readonly events: Readonly<Record<string, unknown>>[] = [];
  laggedEvents = 0;
  truncated = 0;
  lostUnits = 0;
  lostEvents = 0;
  isRecovered = false;
  /** What is left cannot be delivered before more comes. */
  isHeld = false;
  protected readonly lane: Lane;
  protected readonly how: LaneReading;
  protected items = 0;
  readonly #start: number;

  constructor(lane: Lane, { start }: { readonly start: number }, how: LaneReading) {
    this.how = how;
    this.from = this.cursor = lane.delivered;
    this.lane = lane;
    this.#start = start;
  }

  run(): void {
    for (const item of this.lane.items) {
      const isBefore = this.items === 0;
      if (item.kind === 'lagged') {
        if (!isBefore) return this.finish(false);
        this.laggedEvents += item.events;
        this.truncated += item.to - item.from;
        this.from = this.cursor = item.to;
        this.events.push({ kind: 'lagged', dropped: item.events });
        continue;
      }
      const gone = Math.min(this.#start, item.to) - item.from;
      if (gone > 0) this.#lose(item, gone);
      if (gone === item.to - item.from) continue;
      if (this.isFull) return this.finish(item.from === this.cursor);
      this.items += 1;
      this.isRecovered ||= item.kind === 'snapshot';
      if (!this.take(item)) return this.finish(true);
      this.cursor = item.to;
    }
    const { isOver, isFiltered } = this.how;
    this.finish(!isOver && !isFiltered);
  }

  /** False when it took only a part of it. */
  protected abstract take(item: LaneRange): boolean;

  /** Whether the last thing taken goes on later. */
  protected abstract finish(goesOn: boolean): void;

  /** How many events that is. */
  protected abstract lostIn(item: LaneRange, units: number): number;

  protected get isFull(): boolean {
    return this.items >= mostEvents || this.size >= this.how.maxBytes;
  }

  /** Old bytes go first, so everything before it is gone as well. */
  #lose(item: LaneRange, units: number): void {
    this.lostUnits += units;
    this.truncated += units;
    this.lostEvents += this.lostIn(item, units);
    this.from = this.cursor = item.from + units;
  }
}

class TextReading extends Reading {
  readonly #content: TextContent;
  #taken: TextPart[] = [];

  constructor(lane: Lane, content: TextContent, how: LaneReading) {
    super(lane, content, how);
    this.#content = content;
  }

  protected override take(item: LaneRange): boolean {
    const from = Math.max(item.from, this.#content.start);
    if (from >= item.to) return true;
    if (item.pattern === undefined) return this.#copy({ from, to: item.to });
    for (const { from: at, to, isMatch } of matchingSpans(this.#content, { from, to: item.to }, item)) {
      if (isMatch) this.matchedTo = to;
      if (isMatch && !this.#copy({ from: at, to })) return false;
      this.cursor = to;
      if (to < item.to && (this.isFull || this.how.isTired())) return false;
    }
    return true;
  }

  /** A limit smaller than a character or an escape sequence would stop the lane for ever: then there is always room for more. */
  protected override get isFull(): boolean {
    if (!super.isFull) return false;
    return this.how.raw || this.size > longestHeld || heldBack(joinedParts(this.#taken)).held < this.size;
  }

  protected override lostIn({ events, from, to }: LaneRange, units: number): number {
    return units === to - from ? events : 1;
  }

  protected override finish(goesOn: boolean): void {
    const parts = joinedParts(this.#taken);
    const { parts: kept, held } = goesOn && !this.how.raw ? heldBack(parts) : { parts, held: 0 };
    this.cursor -= held;
    this.size -= held;
    this.isHeld = held > 0 && this.cursor + held === this.lane.items.at(-1)?.to;
    this.parts = kept;
  }

  /** False when it did not fit. */
  #copy({ from, to }: Stretch): boolean {
    this.cursor = from;
    while (this.cursor < to && !this.isFull) {
      const room = Math.max(this.how.maxBytes - this.size, 1);
      const read = this.#content.read({ from: this.cursor, to }, room);
      this.#taken.push(...read.parts);
      this.size += lengthOf(read.parts);
      this.cursor = read.to;
    }
    return this.cursor >= to;
  }
}

class EventReading extends Reading {
  readonly #content: JsonContent;
  /** Events of the resource, without those of the lane. */
  #taken = 0;

  constructor(lane: Lane, content: JsonContent, how: LaneReading) {
    super(lane, content, how);
    this.#content = content;
  }

  protected override take(item: LaneRange): boolean {
    if (item.kind === 'snapshot') this.events.push({ kind: 'snapshot', cursor: item.to, bytes: 0 });
    for (const event of this.#content.read(item)) {
      const line = JSON.stringify(event);
      if (!item.pattern || item.pattern.test(line)) {
        if (this.#taken > 0 && this.isFull) return false;
        this.#add(event, line);
      }
      this.cursor = event.seq;
    }
    return true;
  }

  /** One stretch may hold many events. */
  protected override get isFull(): boolean {
    return this.#taken >= mostEvents || this.size >= this.how.maxBytes;
  }

  protected override lostIn(_: LaneRange, units: number): number {
    return units;
  }

  protected override finish(): void {}

  #add(event: ResourceEvent, line: string): void {
    this.size += line.length;
    this.events.push(event);
    this.#taken += 1;
  }
}
