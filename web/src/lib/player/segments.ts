import type { ReplayedEvent, ReplayKeys, ReplayRange, SoughtScreen } from '../replay-shapes.ts';

/** A stretch of a recording: the screen at its start, and what is printed after it. */
export interface Segment {
  readonly from: number;
  readonly to: number;
  readonly cols: number;
  readonly rows: number;
  readonly screen: string;
  readonly events: readonly ReplayedEvent[];
}

/** Calls an operation of the server. */
export type Ask = <Output>(op: string, input: object) => Promise<Output>;

/** Of a recording so many stretches stay in memory, at most with so many characters. */
const mostKept = 64;
const mostChars = 24 << 20;
const mostBytes = 8 << 20;

/** A recording in stretches that begin at its keyframes: each is fetched once, so a seek within one needs no server. */
export class Segments {
  readonly #ask: Ask;
  readonly #recording: string;
  readonly #kept = new Map<number, Promise<Segment>>();
  readonly #ready = new Map<number, Segment>();
  #cuts: readonly number[] = [0];
  #offsets: readonly { readonly t: number; readonly off: number }[] = [];
  #end = 0;

  constructor(recording: string, ask: Ask) {
    this.#recording = recording;
    this.#ask = ask;
  }

  /** Learns where stretches begin. Those that were fetched stay, but for the last: it may have grown. */
  async load(end: number): Promise<void> {
    const { keys } = await this.#ask<ReplayKeys>('replay.keys', {
      recording: this.#recording,
      screens: false,
      limit: 10_000,
    });
    const last = this.#cuts.at(-1);
    const cuts = [...new Set([0, ...keys.map(({ t }) => t)])].sort((a, b) => a - b);
    if (end > this.#end && last !== undefined) this.#forget(last);
    this.#offsets = keys.flatMap(({ t, off }) => (off === undefined ? [] : [{ t, off }]));
    this.#cuts = cuts;
    this.#end = end;
  }

  /** When the terminal had printed so many bytes, as far as keyframes tell. */
  momentOf(offset: number): number | undefined {
    return this.#offsets.findLast(({ off }) => off <= offset)?.t ?? this.#offsets[0]?.t;
  }

  /** The stretch at a moment, if it is here. */
  ready(t: number): Segment | undefined {
    return this.#ready.get(this.#startOf(t));
  }

  at(t: number): Promise<Segment> {
    const from = this.#startOf(t);
    const known = this.#kept.get(from);
    if (known) {
      // The newest stay longest.
      this.#kept.delete(from);
      this.#kept.set(from, known);
      return known;
    }
    const fetched = this.#fetch(from);
    this.#kept.set(from, fetched);
    fetched.then(
      (segment) => {
        if (this.#kept.get(from) === fetched) this.#ready.set(from, segment);
        this.#tidy();
      },
      () => this.#forget(from),
    );
    return fetched;
  }

  /** The stretch behind another; undefined at the end. */
  after({ to }: Segment): Promise<Segment> | undefined {
    return this.#cuts.includes(to) ? this.at(to) : undefined;
  }

  /** Fetches ahead what is likely wanted next. */
  ahead(moments: readonly number[]): void {
    for (const t of moments) this.at(t).catch(() => {});
  }

  #startOf(t: number): number {
    let [low, high] = [0, this.#cuts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#cuts[middle] ?? 0) <= t) low = middle;
      else high = middle - 1;
    }
    return this.#cuts[low] ?? 0;
  }

  async #fetch(from: number): Promise<Segment> {
    const to = this.#cuts[this.#cuts.indexOf(from) + 1] ?? Math.max(this.#end, from);
    const recording = this.#recording;
    const isLast = to === this.#end;
    const [{ cols, rows, screen }, { events }] = await Promise.all([
      this.#ask<SoughtScreen>('replay.seek', { recording, t: from }),
      this.#range(from, isLast ? undefined : to),
    ]);
    return { from, to, cols, rows, screen, events };
  }

  async #range(from: number, to: number | undefined): Promise<{ readonly events: readonly ReplayedEvent[] }> {
    const events: ReplayedEvent[] = [];
    let at = from;
    for (;;) {
      const part = await this.#ask<ReplayRange>('replay.range', {
        recording: this.#recording,
        from: at,
        ...(to !== undefined && { to }),
        max_bytes: mostBytes,
      });
      events.push(...part.events);
      if (!part.more) return { events };
      at = part.to;
    }
  }

  #forget(from: number): void {
    this.#kept.delete(from);
    this.#ready.delete(from);
  }

  #tidy(): void {
    let chars = 0;
    for (const { screen, events } of this.#ready.values()) {
      chars += screen.length + events.reduce((sum, [, , data]) => sum + data.length, 0);
    }
    for (const from of this.#kept.keys()) {
      if (this.#kept.size <= 2 || (this.#kept.size <= mostKept && chars <= mostChars)) return;
      const gone = this.#ready.get(from);
      chars -= gone ? gone.screen.length + gone.events.reduce((sum, [, , data]) => sum + data.length, 0) : 0;
      this.#forget(from);
    }
  }
}
