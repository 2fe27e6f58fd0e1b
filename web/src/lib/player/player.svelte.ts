import { CallFailed } from '../live.ts';
import type { FollowedReplay, ReplayedEvent, ReplayOutline } from '../replay-shapes.ts';
import { blockAt, nextStart, previousStart } from './scrub.ts';
import { type Ask, type Segment, Segments } from './segments.ts';

export const speeds = [0.5, 1, 2, 4, 8] as const;
export type Speed = (typeof speeds)[number];

type PlayerState = 'loading' | 'ready' | 'playing' | 'ended' | 'gone' | 'failed';

/** What shows the recording. */
interface Shown {
  show(base: Pick<Segment, 'cols' | 'rows' | 'screen'>, then: readonly ReplayedEvent[]): Promise<void>;
  play(events: readonly ReplayedEvent[]): Promise<void>;
}

export interface PlayerParts {
  readonly recording: string;
  readonly ask: Ask;
  /** Reads the stream of a recording that goes on, until the answer is called. */
  readonly follow: (item: (item: FollowedReplay) => void | Promise<void>, failed: (why: unknown) => void) => () => void;
  readonly now: () => number;
  /** Calls once, before the next picture is drawn. */
  readonly frame: (draw: () => void) => () => void;
  readonly moved?: (t: number) => void;
}

/** An idle pause is cut to this, in seconds, while they are skipped. */
const idle = 1;
/** A person who seeks again sooner than this is still looking for the place. */
const restMs = 80;

/** Plays one recording on a screen: where it is, how fast, and what comes next. */
export class Player {
  readonly #parts: PlayerParts;
  readonly #segments: Segments;
  state = $state<PlayerState>('loading');
  fault = $state.raw<unknown>();
  outline = $state.raw<ReplayOutline>();
  /** Seconds, as the recording plays. */
  t = $state(0);
  end = $state(0);
  speed = $state<Speed>(1);
  skipsIdle = $state(true);
  /** It shows the end of a recording that goes on. */
  isLive = $state(false);
  /** The moment that is wanted is not on the screen yet. */
  isSeeking = $state(false);
  /** The next stretch is not here yet. */
  isLate = $state(false);
  #screen: Shown | undefined;
  #segment: Segment | undefined;
  /** The next event of the stretch. */
  #next = 0;
  #lastEventT = 0;
  #drawnAt = 0;
  #stopFrame: (() => void) | undefined;
  #stopFollowing: (() => void) | undefined;
  /** Of the newest seek: an older one that comes late changes nothing. */
  #seeks = 0;
  #resting: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(parts: PlayerParts) {
    this.#parts = parts;
    this.#segments = new Segments(parts.recording, parts.ask);
  }

  get block() {
    return this.outline && blockAt(this.outline.blocks, this.t);
  }

  get goesOn(): boolean {
    return this.outline?.state === 'recording';
  }

  async open(screen: Shown, t: number): Promise<void> {
    this.#screen = screen;
    this.state = 'loading';
    this.fault = undefined;
    try {
      await this.refresh();
      if (this.#isOver) return;
      this.state = 'ready';
      await this.seek(t);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Asks again what there is: a recording that goes on has grown. */
  async refresh(): Promise<void> {
    const outline = await this.#parts.ask<ReplayOutline>('replay.blocks', { recording: this.#parts.recording });
    this.outline = outline;
    this.end = Math.max(outline.playMs / 1000, this.isLive ? this.end : 0);
    await this.#segments.load(this.end);
  }

  dispose(): void {
    this.#isOver = true;
    this.#seeks += 1;
    this.#stopFrame?.();
    this.#stopFollowing?.();
    clearTimeout(this.#resting);
  }

  /** Shows a moment. */
  async seek(to: number): Promise<void> {
    this.#leaveLive();
    const t = Math.min(this.end, Math.max(0, Number.isFinite(to) ? to : 0));
    const mine = ++this.#seeks;
    clearTimeout(this.#resting);
    this.#move(t);
    this.isSeeking = true;
    this.isLate = false;
    if (this.state === 'ended' && t < this.end) this.state = 'ready';
    try {
      const segment = this.#segments.ready(t) ?? (await this.#segments.at(t));
      if (mine !== this.#seeks) return;
      const upTo = countTo(segment.events, t);
      this.#segment = segment;
      this.#next = upTo;
      this.#lastEventT = t;
      this.#drawnAt = this.#parts.now();
      await this.#screen?.show(segment, segment.events.slice(0, upTo));
      this.#fetchAhead();
    } catch (error) {
      if (mine === this.#seeks) this.#fail(error);
    } finally {
      if (mine === this.#seeks) this.isSeeking = false;
    }
  }

  /** When the terminal had printed so many bytes. */
  async seekToOffset(offset: number): Promise<void> {
    await this.seek(this.#segments.momentOf(offset) ?? 0);
  }

  play(): void {
    if (this.state === 'playing' || this.state === 'loading') return;
    const isAtEnd = this.state === 'ended' || this.t >= this.end;
    this.state = 'playing';
    this.#fetchAhead();
    this.#drawnAt = this.#parts.now();
    if (isAtEnd) void this.seek(0).then(() => this.#draw());
    else this.#draw();
  }

  pause(): void {
    this.#stopFrame?.();
    this.#leaveLive();
    if (this.state === 'playing') this.state = 'ready';
  }

  toggle(): void {
    if (this.state === 'playing' || this.isLive) this.pause();
    else this.play();
  }

  previousBlock(): void {
    void this.seek(previousStart(this.outline?.blocks ?? [], this.t));
  }

  nextBlock(): void {
    void this.seek(nextStart(this.outline?.blocks ?? [], this.t, this.end));
  }

  /** One event on or back. */
  step(by: 1 | -1): void {
    this.pause();
    const times = this.#segment?.events.map(([t]) => t) ?? [];
    const t = by === 1 ? times.find((one) => one > this.t) : times.findLast((one) => one < this.t);
    void this.seek(t ?? (by === 1 ? (this.#segment?.to ?? this.end) : (this.#segment?.from ?? 0) - 0.001));
  }

  faster(by: 1 | -1): void {
    this.speed = speeds[Math.min(speeds.length - 1, Math.max(0, speeds.indexOf(this.speed) + by))] ?? 1;
  }

  /** Joins the end of a recording that goes on. */
  live(): void {
    this.pause();
    this.#seeks += 1;
    this.isLive = true;
    this.state = 'playing';
    this.#stopFollowing = this.#parts.follow(
      async ({ t, cols, rows, screen, events, ended }) => {
        if (!this.isLive) return;
        this.end = Math.max(this.end, t);
        this.#move(t);
        if (screen !== undefined) await this.#screen?.show({ cols: cols ?? 80, rows: rows ?? 24, screen }, events);
        else await this.#screen?.play(events);
        if (ended) {
          this.#leaveLive();
          this.state = 'ended';
          await this.refresh().catch(() => {});
        }
      },
      (why) => this.#fail(why),
    );
  }

  #leaveLive(): void {
    if (!this.isLive) return;
    this.isLive = false;
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
    if (this.state === 'playing') this.state = 'ready';
    void this.refresh().catch(() => {});
  }

  #draw(): void {
    this.#stopFrame?.();
    if (this.state !== 'playing' || this.#isOver) return;
    this.#stopFrame = this.#parts.frame(() => {
      this.#advance();
      this.#draw();
    });
  }

  #advance(): void {
    const now = this.#parts.now();
    const passed = Math.min(1000, now - this.#drawnAt) / 1000;
    this.#drawnAt = now;
    const segment = this.#segment;
    if (!segment || this.isLive) return;
    let target = this.t + passed * this.speed;
    const nextT = segment.events[this.#next]?.[0] ?? segment.to;
    // Pauses are cut: from a second after the last event on, the next one comes at once.
    if (this.skipsIdle && target > this.#lastEventT + idle && nextT > target) target = nextT;
    const upTo = this.#next + countTo(segment.events.slice(this.#next), target);
    if (upTo > this.#next) {
      void this.#screen?.play(segment.events.slice(this.#next, upTo));
      this.#lastEventT = segment.events[upTo - 1]?.[0] ?? this.#lastEventT;
      this.#next = upTo;
    }
    if (upTo < segment.events.length || target < segment.to) return this.#move(Math.min(target, this.end));
    this.#goOn(segment);
  }

  /** To the next stretch, or the end. */
  #goOn(segment: Segment): void {
    const after = segment.to >= this.end ? undefined : this.#segments.after(segment);
    this.#move(Math.min(segment.to, this.end));
    if (!after) {
      this.state = 'ended';
      return;
    }
    const ready = this.#segments.ready(segment.to);
    if (ready) this.#enter(ready);
    else void this.#enterLater(after);
  }

  async #enterLater(coming: Promise<Segment>): Promise<void> {
    this.isLate = true;
    this.#segment = undefined;
    const mine = this.#seeks;
    try {
      const segment = await coming;
      if (mine === this.#seeks) this.#enter(segment);
    } catch (error) {
      this.#fail(error);
    }
  }

  #enter(segment: Segment): void {
    this.isLate = false;
    this.#segment = segment;
    // The screen shows its start already.
    this.#next = 0;
    this.#fetchAhead();
  }

  /** The next stretch, and once the person rests those of two commands before and behind: one at a time, so that a seek does not wait. */
  #fetchAhead(): void {
    clearTimeout(this.#resting);
    const next = this.#segment && this.#segment.to < this.end ? [this.#segment.to] : [];
    if (this.state === 'playing') this.#segments.ahead(next);
    this.#resting = setTimeout(() => void this.#fetchAround(next, this.#seeks), restMs);
  }

  async #fetchAround(next: readonly number[], mine: number): Promise<void> {
    const { blocks = [] } = this.outline ?? {};
    const here = blocks.findLastIndex(({ t }) => t <= this.t);
    const near = blocks.slice(Math.max(0, here - 2), here + 3).map(({ t }) => t);
    for (const t of [...next, ...near]) {
      if (mine !== this.#seeks || this.#isOver) return;
      await this.#segments.at(t).catch(() => {});
    }
  }

  #move(t: number): void {
    if (t === this.t) return;
    this.t = t;
    this.#parts.moved?.(t);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#stopFrame?.();
    this.fault = error;
    this.state = error instanceof CallFailed && error.failure.code === 'not_found' ? 'gone' : 'failed';
  }
}

/** How many of these events have happened at a moment. */
function countTo(events: readonly ReplayedEvent[], t: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.[0] ?? 0) <= t + 1e-7) low = middle + 1;
    else high = middle;
  }
  return low;
}
