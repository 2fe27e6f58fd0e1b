import type { Clock } from '../../lib/clock.ts';
import type { Size } from '../terminal/channel.ts';
import type { CastProgress } from './cast/cast-progress.ts';
import type { Tape } from './cast/tape.ts';
import type { BegunPart } from './part-start.ts';
import type { RecordedPlace } from './place-file.ts';

interface PlaceMarksOptions {
  readonly part: BegunPart;
  readonly tape: Tape;
  readonly progress: CastProgress;
  readonly clock: Clock;
  /** When the recording began, in milliseconds since the epoch. */
  readonly began: number;
  readonly size: () => Size;
}

/** How often the place of a busy recording is noted. */
const markMs = 20;

/** Notes how far a recording has come, so that another process can go on with it. */
export class PlaceMarks {
  readonly #options: PlaceMarksOptions;
  #markedMs = Number.NEGATIVE_INFINITY;
  /** A place whose bytes are on their way to the file. */
  #reached: RecordedPlace | undefined;

  constructor(options: PlaceMarksOptions) {
    this.#options = options;
  }

  /** Only between two calls of the tape: within one, lines are still to come. */
  mark(always = false): void {
    const { part, tape, progress, clock, began, size } = this.#options;
    const nowMs = clock.monotonic();
    if (!always && nowMs - this.#markedMs < markMs) return;
    this.#markedMs = nowMs;
    const off = tape.writtenTo;
    if (off === undefined) return;
    const { file, places } = part;
    const { time, redactions } = tape;
    const place = { pos: file.size, off, began, time, size: size(), redactions };
    progress.reached(place.pos, off);
    if (file.waiting === 0) places.note(place);
    else this.#reached ??= place;
  }

  /** The file has this size now. */
  written(bytes: number): void {
    if (this.#reached === undefined || this.#reached.pos > bytes) return;
    this.#options.part.places.note(this.#reached);
    this.#reached = undefined;
  }
}
