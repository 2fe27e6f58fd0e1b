import type { Clock } from '../../../lib/clock.ts';

/** Something that parses output in turns. */
export interface FeedJob {
  /** Works until done or until the monotonic time `deadline`; true when there is more to do. */
  turn(deadline: number): boolean;
}

/**
 * `first`: in this turn of the loop, before all others, because a caller waits. `now`: in this turn. `soon`: the same unless
 * the job just had a turn. `batched`: with the next batch, because large pieces are parsed faster than small ones.
 */
export type When = 'first' | 'now' | 'soon' | 'batched';

/** A terminal that keeps printing is parsed in batches this far apart. */
const batchMs = 16;
/** How long all terminals together may hold the event loop at a time. */
const turnMs = 8;
/** How much of that those have for whom callers wait, while others are due. */
const callersMs = 6;

/** Shares the event loop between all terminals that have output to parse: each gets its turn, none holds it for long. */
export class FeedSchedule {
  readonly #clock: Clock;
  /** Callers wait for these. */
  readonly #first = new Set<FeedJob>();
  readonly #due = new Set<FeedJob>();
  readonly #later = new Set<FeedJob>();
  readonly #lastDone = new WeakMap<FeedJob, number>();
  #immediate: NodeJS.Immediate | undefined;
  #timer: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Asks for a turn. */
  request(job: FeedJob, when: When): void {
    if (this.#first.has(job)) return;
    if (when === 'first') {
      this.#later.delete(job);
      this.#due.delete(job);
      this.#first.add(job);
      this.#arm();
      return;
    }
    if (this.#due.has(job)) return;
    if (when === 'now' || (when === 'soon' && this.#rested(job))) {
      this.#later.delete(job);
      this.#due.add(job);
      this.#arm();
      return;
    }
    this.#later.add(job);
    if (!this.#timer) this.#timer = this.#clock.after(batchMs, () => this.#batch());
  }

  #rested(job: FeedJob): boolean {
    const last = this.#lastDone.get(job);
    return last === undefined || this.#clock.monotonic() - last >= batchMs;
  }

  cancel(job: FeedJob): void {
    this.#first.delete(job);
    this.#due.delete(job);
    this.#later.delete(job);
    this.#lastDone.delete(job);
  }

  #batch(): void {
    this.#timer = undefined;
    for (const job of this.#later) this.#due.add(job);
    this.#later.clear();
    this.#arm();
  }

  /** One run a turn of the loop. */
  #arm(): void {
    if (!this.#immediate) this.#immediate = setImmediate(() => this.#run());
  }

  #run(): void {
    this.#immediate = undefined;
    const now = this.#clock.monotonic();
    try {
      // Not all of the turn: callers who ask again and again must not stop the other terminals.
      this.#work(this.#first, now + (this.#due.size > 0 ? callersMs : turnMs));
      this.#work(this.#due, now + turnMs);
    } finally {
      if (this.#first.size + this.#due.size > 0) this.#arm();
    }
  }

  #work(jobs: Set<FeedJob>, deadline: number): void {
    for (const job of jobs) {
      jobs.delete(job);
      // Unfinished work goes to the end of the line, so one flood cannot starve the others.
      if (job.turn(deadline) && !this.#first.has(job)) this.#due.add(job);
      const now = this.#clock.monotonic();
      this.#lastDone.set(job, now);
      if (now >= deadline) break;
    }
  }
}

const schedules = new WeakMap<Clock, FeedSchedule>();

/** The schedule of everything that lives by this clock. */
export function scheduleOf(clock: Clock): FeedSchedule {
  let schedule = schedules.get(clock);
  if (!schedule) {
    schedule = new FeedSchedule(clock);
    schedules.set(clock, schedule);
  }
  return schedule;
}
