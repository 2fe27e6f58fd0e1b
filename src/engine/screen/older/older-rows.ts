import type { Clock } from '../../../lib/clock.ts';
import { abortable } from '../../../system/abortable.ts';
import { pauses } from '../../../system/turns.ts';
import type { OutputLog } from '../../terminal/output-log.ts';
import type { Size } from '../../terminal/channel.ts';
import type { PaintedRow } from '../painted.ts';
import type { RowText } from '../rows.ts';
import type { Screen } from '../screen.ts';
import { ScrolledRows } from './scrolled-rows.ts';

/** A change of the screen that its bytes do not tell of, before the byte at this offset. */
type ScreenChange = { readonly at: number } & ({ readonly size: Size } | { readonly keepLine: boolean });

interface OlderOptions {
  readonly log: OutputLog;
  readonly screen: Screen;
  readonly clock: Clock;
  /** The screen shows exactly the output before this offset. */
  readonly shownTo: () => number;
  /** How many rows above the screen can be read, those of the emulator included. */
  readonly readable: () => number;
  /** Offsets whose rows a reader may ask for, in order. */
  readonly places?: () => readonly number[];
}

/** Everything that can be read of a terminal at one moment. */
export interface Readable {
  /** In order, from an absolute row number on. Call it at once: a later reader may let go of older rows. */
  readonly rows: (from?: number, count?: number) => RowText[];
  /** Absolute number of the first row that can be read. */
  readonly first: number;
  readonly viewportTop: number;
  readonly epoch: number;
}

/** Rows with their colours, and what numbers they have. */
export interface Painted {
  readonly rows: readonly PaintedRow[];
  /** Absolute number of the first row that can be read. */
  readonly first: number;
  readonly epoch: number;
}

/** As long as a person or agent may look at a page before the next one. */
const keptMs = 30_000;
/** So many rows must be the same in both emulators. */
const compared = 32;
const mostChanges = 512;
/** Rows are let go so many at a time. */
const slack = 4096;

/**
 * Rows that the live emulator no longer holds, rendered from the output log when a reader asks. A second emulator goes through the
 * same bytes, so row numbers are the same; it is kept for a while, and goes on from where it is.
 */
export class OlderRows implements Disposable {
  readonly #options: OlderOptions;
  readonly #listening: readonly Disposable[];
  readonly #changes: ScreenChange[] = [];
  /** How many changes are no longer in the list, and how many the replay has been through, of all there ever were. */
  #dropped = 0;
  #applied = 0;
  /** The size before the first change, and the offset from which it is known. */
  #size: Size;
  #knownFrom = 0;
  #replay: ScrolledRows | undefined;
  /** The replay has gone through the output before this offset. */
  #at = 0;
  /** How many rows it was told to keep: for more it has to begin again. */
  #kept = 0;
  /** The replay keeps colours. */
  #isPainted = false;
  /** Added to a row number of the replay it gives that of the screen; undefined while the two do not agree. */
  #shift: number | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #idle: Disposable | undefined;
  #isOver = false;

  constructor(options: OlderOptions) {
    this.#options = options;
    const { screen, shownTo } = options;
    this.#size = screen.size;
    this.#listening = [
      screen.resized.on((size) => this.#changed({ at: shownTo(), size })),
      screen.cleared.on((keepLine) => this.#changed({ at: shownTo(), keepLine })),
    ];
  }

  /** Everything that can be read now. Call it after `sync`. `marks`: text that a person cannot see is between ⟦ and ⟧. */
  async read({ marks = false }: { readonly marks?: boolean }, signal: AbortSignal): Promise<Readable> {
    const { screen } = this.#options;
    // All of one moment; the rest is awaited.
    const { baseRow, viewportTop, epoch, alternate } = screen.facts;
    const live = marks ? screen.markedRows(baseRow) : screen.rowTexts(baseRow);
    const moment = this.#moment();
    const hasOlder = baseRow > 0 && !alternate && moment.most > 0 && (await this.#caughtUp(moment, signal));
    const first = hasOlder ? this.#firstOf(moment) : baseRow;
    const rows = (from = first, count = Number.MAX_SAFE_INTEGER): RowText[] => {
      const start = Math.max(first, from);
      const end = start + count;
      const older = start < baseRow ? this.#older(start, Math.min(end, baseRow), marks) : [];
      return [...older, ...live.slice(Math.max(0, start - baseRow), Math.max(0, end - baseRow))];
    };
    return { rows, first, viewportTop, epoch };
  }

  /** Up to `count` rows before the one with this number, with their colours. Call it after `sync`. */
  async painted(before: number, count: number, signal: AbortSignal): Promise<Painted> {
    const { screen } = this.#options;
    const { baseRow, viewportTop, epoch, alternate } = screen.facts;
    const end = Math.min(before, viewportTop);
    const start = Math.max(0, end - count);
    const live = screen.paintedRows(Math.max(start, baseRow), Math.max(0, end - Math.max(start, baseRow)));
    const moment = this.#moment(true);
    const hasOlder = baseRow > 0 && !alternate && moment.most > 0 && (await this.#caughtUp(moment, signal));
    const first = hasOlder ? this.#firstOf(moment) : baseRow;
    const older = start < baseRow ? this.#olderPainted(Math.max(start, first), Math.min(end, baseRow)) : [];
    return { rows: [...older, ...live], first, epoch };
  }

  /** The absolute numbers of the rows that the cursor was on at the offsets of `places`, as far as they are known. Call it after `sync`. */
  async rowsOf(signal: AbortSignal): Promise<{ readonly rows: ReadonlyMap<number, number>; readonly epoch: number }> {
    const { screen } = this.#options;
    const { epoch, alternate } = screen.facts;
    const rows = new Map<number, number>();
    if (alternate || !(await this.#caughtUp(this.#moment(this.#isPainted), signal))) return { rows, epoch };
    for (const [offset, row] of this.#replay?.places ?? []) rows.set(offset, row + (this.#shift ?? 0));
    return { rows, epoch };
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const one of this.#listening) one[Symbol.dispose]();
    this.#rest();
  }

  #moment(painted = false): Moment {
    const { screen, shownTo } = this.#options;
    const { baseRow, viewportTop } = screen.facts;
    const shown = screen.rowTexts(baseRow, Math.min(compared, viewportTop - baseRow)).map(({ text }) => text);
    const changes = this.#dropped + this.#changes.length;
    return { to: shownTo(), baseRow, shown, most: this.#most, changes, painted };
  }

  /** Rows to keep beside those of the emulator. */
  get #most(): number {
    const { readable, screen } = this.#options;
    return Math.max(0, readable() - screen.scrollback);
  }

  /** Whether there are rows before those of the emulator. */
  async #caughtUp(moment: Moment, signal: AbortSignal): Promise<boolean> {
    // One reader at a time: the next one finds the work done.
    const turn = this.#turn.then(() => this.#catchUp(moment, signal));
    this.#turn = turn.catch(() => {});
    await abortable(turn, signal);
    return this.#shift !== undefined && this.#replay !== undefined;
  }

  #firstOf({ baseRow, most }: Moment): number {
    const first = (this.#replay?.first ?? 0) + (this.#shift ?? 0);
    return Math.min(baseRow, Math.max(first, baseRow - most));
  }

  #older(from: number, to: number, marks: boolean): RowText[] {
    const replay = this.#replay;
    if (!replay || this.#shift === undefined) return [];
    const first = replay.first + this.#shift;
    const rows = replay.rows.slice(Math.max(0, from - first), Math.max(0, to - first));
    return rows.map(({ text, wrapped, marked }, at) => ({
      row: Math.max(from, first) + at,
      wrapped,
      text: marks ? (marked?.text ?? text) : text,
      ...(marks && marked ? { hidden: marked.hidden } : {}),
    }));
  }

  #olderPainted(from: number, to: number): PaintedRow[] {
    const replay = this.#replay;
    if (!replay || this.#shift === undefined) return [];
    const first = replay.first + this.#shift;
    const rows = replay.rows.slice(Math.max(0, from - first), Math.max(0, to - first));
    return rows.map(({ text, wrapped, painted = text }, at) => ({
      row: Math.max(from, first) + at,
      text: painted,
      wrapped,
    }));
  }

  async #catchUp(moment: Moment, signal: AbortSignal): Promise<void> {
    const { to, baseRow, shown, most, changes, painted } = moment;
    const { log, clock, places = () => [] } = this.#options;
    const isEnough = most <= this.#kept && (this.#isPainted || !painted);
    if (this.#isOver || (to < this.#at && isEnough)) return;
    if (this.#at < log.start || this.#applied < this.#dropped || !isEnough) this.#rest();
    this.#kept = most;
    this.#isPainted ||= painted;
    const replay = this.#replay ?? this.#begin(to);
    this.#idle?.[Symbol.dispose]();
    this.#idle = undefined;
    const pause = pauses(signal);
    // A copy: the log may drop bytes in the pauses.
    const { bytes, from } = log.read(this.#at, to);
    const asked = places().filter((offset) => offset >= this.#at && offset <= to);
    try {
      for (;;) {
        const change = this.#applied < changes ? this.#changes[this.#applied - this.#dropped] : undefined;
        if (change && change.at <= this.#at) {
          apply(replay, change);
          this.#applied += 1;
          continue;
        }
        while ((asked[0] ?? to + 1) <= this.#at) replay.place(asked.shift() as number);
        if (this.#at === to) break;
        const end = Math.min(change?.at ?? to, to, this.#at + replay.step, asked[0] ?? to);
        replay.feed(bytes.subarray(this.#at - from, end - from));
        this.#at = end;
        if (replay.rows.length > most + slack) replay.keep(most + (slack >> 1));
        await pause();
        // Meanwhile the terminal ended, or so much changed that what is left to do is no longer known.
        if (this.#isOver || this.#applied < this.#dropped) return;
      }
      const agrees = replay.firstShown(shown.length).join('\n') === shown.join('\n');
      this.#shift = agrees ? baseRow - replay.trimmed : undefined;
    } finally {
      if (!this.#isOver) this.#idle = clock.after(keptMs, () => this.#rest());
    }
  }

  #begin(to: number): ScrolledRows {
    const { log, screen } = this.#options;
    const start = Math.max(log.start, this.#knownFrom);
    // Midway only a whole line is a place to begin.
    this.#at = start === 0 ? 0 : start + newlineIn(log.read(start, Math.min(to, start + (64 << 10))).bytes);
    let size = this.#size;
    let passed = 0;
    for (const change of this.#changes) {
      if (change.at >= this.#at) break;
      if ('size' in change) size = change.size;
      passed += 1;
    }
    this.#applied = this.#dropped + passed;
    this.#replay = new ScrolledRows({
      size,
      scrollback: screen.scrollback,
      midway: start > 0,
      painted: this.#isPainted,
    });
    return this.#replay;
  }

  #changed(change: ScreenChange): void {
    const { log } = this.#options;
    this.#changes.push(change);
    const old = this.#changes.findIndex(({ at }) => at >= log.start);
    const drop = this.#changes.length > mostChanges ? mostChanges >> 1 : Math.max(0, old);
    for (const one of this.#changes.splice(0, drop)) {
      if ('size' in one) this.#size = one.size;
      this.#knownFrom = one.at;
      this.#dropped += 1;
    }
  }

  #rest(): void {
    this.#idle?.[Symbol.dispose]();
    this.#idle = undefined;
    this.#replay?.[Symbol.dispose]();
    this.#replay = undefined;
    this.#shift = undefined;
    this.#isPainted = false;
    this.#at = 0;
  }
}

interface Moment {
  readonly to: number;
  readonly baseRow: number;
  /** The first rows of the live scrollback. */
  readonly shown: readonly string[];
  readonly most: number;
  /** How many changes came before it. */
  readonly changes: number;
  readonly painted: boolean;
}

function apply(replay: ScrolledRows, change: ScreenChange): void {
  if ('size' in change) replay.resize(change.size);
  else replay.clear(change.keepLine);
}

/** How many bytes end with the first newline. */
const newlineIn = (bytes: Uint8Array): number => bytes.indexOf(0x0a) + 1;
