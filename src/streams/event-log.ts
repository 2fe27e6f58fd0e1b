import type { Clock } from '../lib/clock.ts';
import { Emitter } from '../lib/emitter.ts';
import type { ResourceEvent, Stretch } from './resource.ts';

/** The newest events of something, each with a number of its own that never changes. The first is 1. */
export class EventLog {
  /** After each event. */
  readonly onAppend = new Emitter<ResourceEvent>();
  readonly #clock: Clock;
  readonly #most: number;
  #events: ResourceEvent[] = [];
  #end = 0;

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** How many events there were before the oldest one kept, and how many in all. */
  get start(): number {
    return this.#end - this.#events.length;
  }

  get end(): number {
    return this.#end;
  }

  append(fields: Readonly<Record<string, unknown>>): void {
    this.#end += 1;
    const event = { seq: this.#end, at: new Date(this.#clock.now()).toISOString(), ...fields };
    this.#events.push(event);
    if (this.#events.length > this.#most) this.#events = this.#events.slice(-Math.ceil(this.#most / 2));
    this.onAppend.emit(event);
  }

  read({ from, to }: Stretch): readonly ResourceEvent[] {
    return this.#events.slice(Math.max(0, from - this.start), Math.max(0, to - this.start));
  }
}
