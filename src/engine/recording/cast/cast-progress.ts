import type { CastTime } from './cast-writer.ts';

interface Anchor {
  /** Byte of the cast, or its time in milliseconds. */
  readonly from: number;
  readonly value: number;
}

/** Older ones are forgotten. */
const mostAnchors = 10_000;

/** What the file of a cast does not say: when its moments were by the wall clock, and which output of the log it has reached. */
export class CastProgress {
  readonly #startTime: number;
  /** How far the cast is behind real time, from a moment of the cast on: grows with every pause that is cut. */
  readonly #lags: Anchor[] = [{ from: 0, value: 0 }];
  readonly #offsets: Anchor[] = [];

  constructor(startTime: number, reached: CastTime = { cast: 0, real: 0 }) {
    this.#startTime = startTime;
    this.time(reached);
  }

  /** An event was written at this time. */
  time({ cast, real }: CastTime): void {
    const lag = (real - cast) / 1000;
    if (lag !== this.#lags.at(-1)?.value) add(this.#lags, { from: cast / 1000, value: lag });
  }

  /** The cast has all output before this offset, and nothing behind it, at this byte. */
  reached(pos: number, offset: number): void {
    add(this.#offsets, { from: pos, value: offset });
  }

  wallClock(castMs: number): number {
    return this.#startTime + castMs + (before(this.#lags, castMs) ?? 0);
  }

  offset(pos: number): number | undefined {
    return before(this.#offsets, pos);
  }
}

function add(anchors: Anchor[], anchor: Anchor): void {
  anchors.push(anchor);
  if (anchors.length > mostAnchors) anchors.splice(0, mostAnchors >> 1);
}

const before = (anchors: readonly Anchor[], at: number): number | undefined =>
  anchors.findLast(({ from }) => from <= at)?.value;
