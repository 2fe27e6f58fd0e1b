import { FairleadError } from '../../../contract/errors.ts';
import { onAbort } from '../../../system/on-abort.ts';
import type { OutputLog } from '../../terminal/output-log.ts';
import { type FeedJob, type FeedSchedule, scheduleOf } from './schedule.ts';
import { longestCutOff, type PlainScan } from './plain-scan.ts';
import type { Screen } from '../screen.ts';
import { firstSlice, nextSlice } from './slice.ts';

export interface FeederOptions {
  readonly schedule?: FeedSchedule;
  /** How long an unused screen stays awake. */
  readonly idleMs?: number;
  /** False parses every byte: for comparing. */
  readonly fastForward?: boolean;
  /** The screen shows everything before this offset already. */
  readonly from?: number | undefined;
  /** What stands before this offset is fed apart from what stands behind it. */
  readonly cutAt?: (() => number) | undefined;
}

/** Parsed in one go before looking at the clock again; less at first, and once a slice took too long. */
const sliceBytes = 16 << 10;
/** So little is quick, whatever it is. */
const quickBytes = 64;
/** What someone waits for is parsed in the call that brings it, up to this much, if it goes quickly. */
const atOnceBytes = 32 << 10;
const atOnceMs = 25;
/** Less is not worth looking through for text to skip. */
const worthScanning = 16 << 10;
/** Looked through in one go, and before what was found is shown. */
const scanBytes = 64 << 10;
const mostScanned = 1 << 20;
/** So much is skipped at a time, while it is followed. */
const worthForgetting = 128 << 10;
/** Followed output that keeps coming is shown this often, even without readers. */
const followedMs = 1000;
/** And when it pauses so long: with many floods at once, each pauses for a while all the time. */
const pausedMs = 100;

interface Waiting {
  readonly target: number;
  readonly done: () => void;
}

/** Brings what is in the log onto the screen: at once for those who wait, in shared turns otherwise. */
export class Feeder implements Disposable {
  readonly #log: OutputLog;
  readonly #screen: Screen;
  readonly #schedule: FeedSchedule;
  readonly #idleMs: number;
  readonly #fastForward: boolean;
  readonly #cutAt: () => number;
  readonly #job: FeedJob = { turn: (deadline) => this.#turn(deadline) };
  readonly #listening: Disposable[];
  #waiting: Waiting[] = [];
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  #parsedTo: number;
  /** Follows the output after `parsedTo`: what scrolls out unseen is not parsed. */
  #scan: PlainScan | undefined;
  /** Looking for text to skip is useless before this offset. */
  #scannedTo = 0;
  /** Where the log ended at the last turn that found more, when that was, and when the screen was last true. */
  #lastEnd = 0;
  #lastMoreMs = 0;
  #lastTrueMs = Number.NEGATIVE_INFINITY;
  #slice = sliceBytes;
  #watchers = 0;
  #parsing = false;
  #disposed = false;
  #idle: Disposable | undefined;

  constructor(log: OutputLog, screen: Screen, options: FeederOptions = {}) {
    this.#log = log;
    this.#screen = screen;
    this.#parsedTo = Math.min(log.end, Math.max(log.start, options.from ?? 0));
    this.#schedule = options.schedule ?? scheduleOf(screen.clock);
    this.#idleMs = options.idleMs ?? 30_000;
    this.#fastForward = options.fastForward ?? true;
    this.#cutAt = options.cutAt ?? (() => 0);
    this.#listening = [
      log.onAppend.on(() => this.#appended()),
      log.onDrop.on((offset) => this.#leave(offset)),
      screen.onChange.on(() => this.#show()),
      screen.onWake.on(() => this.#sleepLater()),
    ];
    if (this.#pending > 0) this.#schedule.request(this.#job, 'soon');
  }

  /** The screen shows everything before this offset. */
  get parsedTo(): number {
    return this.#parsedTo;
  }

  get #pending(): number {
    return this.#log.end - this.#parsedTo;
  }

  /** How many bytes of the log are still to be looked at. */
  get #needed(): number {
    return this.#log.end - (this.#scan?.from ?? this.#parsedTo);
  }

  /** While held, output is parsed as it is appended: someone waits for it. */
  watch(): Disposable {
    this.#watchers++;
    if (this.#pending > 0) this.#schedule.request(this.#job, 'now');
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (held) this.#watchers--;
        held = false;
      },
    };
  }

  /** Nothing when the screen shows every byte now in the log, else a promise of that. */
  sync(signal?: AbortSignal): Promise<void> | undefined {
    if (this.#pending === 0 || this.#disposed) return undefined;
    if (this.#pending <= atOnceBytes && !this.#parsing) {
      this.#parseAtOnce();
      if (this.#pending === 0) return undefined;
    }
    if (signal?.aborted) return Promise.reject(cancelled(signal));
    const target = this.#log.end;
    this.#schedule.request(this.#job, 'first');
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        target,
        done: () => {
          listening?.[Symbol.dispose]();
          resolve();
        },
      };
      const abort = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(cancelled(signal));
      };
      // In a flood a waiter asks again before the first answer: many waits share one signal.
      const listening = signal && onAbort(signal, abort);
      this.#waiting.push(waiting);
    });
  }

  /** Nothing while there is room; a promise when the writer should wait before it goes on. */
  room(): Promise<void> | undefined {
    if (this.#disposed || this.#needed <= this.#log.capacity >> 1) return undefined;
    if (!this.#room) {
      let resolve = (): void => {};
      const promise = new Promise<void>((settle) => {
        resolve = settle;
      });
      this.#room = { promise, resolve };
      this.#schedule.request(this.#job, 'now');
    }
    return this.#room.promise;
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#schedule.cancel(this.#job);
    for (const listening of this.#listening) listening[Symbol.dispose]();
    this.#idle?.[Symbol.dispose]();
    this.#idle = undefined;
    for (const { done } of this.#waiting.splice(0)) done();
    this.#room?.resolve();
    this.#room = undefined;
  }

  #appended(): void {
    if (this.#parsing) return;
    // Making or waking an emulator takes its turn; many floods may begin in the same moment.
    if (this.#screen.state === 'live') this.#follow();
    const isLittle = this.#pending <= atOnceBytes;
    if (this.#watchers > 0 && isLittle) this.#parseAtOnce();
    else this.#schedule.request(this.#job, this.#watchers > 0 ? 'now' : isLittle ? 'soon' : 'batched');
  }

  #parseAtOnce(): void {
    this.#parse(this.#log.end, this.#screen.clock.monotonic() + atOnceMs);
  }

  #turn(deadline: number): boolean {
    if (this.#mayWait()) {
      this.#schedule.request(this.#job, 'batched');
      return false;
    }
    this.#parse(this.#log.end, deadline);
    this.#lastTrueMs = this.#screen.clock.monotonic();
    return this.#pending > 0;
  }

  /** No reader waits for the screen, the output only prints, and it keeps coming. */
  #mayWait(): boolean {
    const { end } = this.#log;
    const now = this.#screen.clock.monotonic();
    if (end > this.#lastEnd) this.#lastMoreMs = now;
    this.#lastEnd = end;
    if (this.#watchers > 0 || this.#waiting.length > 0 || this.#room || !this.#scan || this.#scan.stopped) return false;
    // What cannot be followed may be a question of the program, or half of something.
    const pauseMs = this.#scan.end === end ? pausedMs : 1;
    return now - this.#lastMoreMs < pauseMs && now - this.#lastTrueMs < followedMs;
  }

  /** Parses up to `target`, or until the time is up. */
  #parse(target: number, deadline: number): void {
    // An answer of the terminal may bring new output before this call is over; that has its own turn.
    if (this.#parsing || this.#parsedTo >= target) return;
    this.#parsing = true;
    this.#slice = Math.min(this.#slice, firstSlice(this.#screen.size));
    try {
      this.#advance(target, deadline);
    } finally {
      this.#parsing = false;
    }
    this.#tell();
    if (this.#pending > 0) this.#schedule.request(this.#job, this.#waiting.length > 0 ? 'first' : 'batched');
  }

  #advance(target: number, deadline: number): void {
    while (this.#parsedTo < target) {
      this.#step(target);
      if (this.#parsedTo < target && this.#screen.clock.monotonic() >= deadline) return;
    }
  }

  #step(target: number): void {
    this.#follow();
    if (this.#show()) return;
    const [view] = this.#log.views(this.#parsedTo);
    if (!view) return;
    const bytes = view.subarray(0, Math.min(this.#slice, this.#uncut(target) - this.#parsedTo));
    // Before feeding: an answer of the terminal may lead to an append, and that back to here.
    this.#parsedTo += bytes.length;
    if (bytes.length <= quickBytes && this.#parsedTo === target) return this.#screen.feed(bytes);
    const started = this.#screen.clock.monotonic();
    this.#screen.feed(bytes);
    this.#slice = nextSlice(this.#slice, this.#screen.clock.monotonic() - started, sliceBytes);
  }

  /** The end of what may be fed in one go. */
  #uncut(target: number): number {
    const cut = this.#cutAt();
    return cut > this.#parsedTo && cut < target ? cut : target;
  }

  /** Looks through what has come since, as far as it can be followed. */
  #follow(): void {
    if (!this.#fastForward || this.#pending < worthScanning) return;
    try {
      this.#lookAhead();
    } catch (thrown) {
      this.#parseInstead(thrown);
    }
  }

  #lookAhead(): void {
    if (!this.#scan && this.#parsedTo >= this.#scannedTo) this.#scan = this.#screen.follow(this.#parsedTo);
    const scan = this.#scan;
    if (!scan) return;
    const limit = scan.end + mostScanned;
    for (let last = -1; !scan.stopped && last < scan.end && scan.end < limit; ) {
      last = scan.end;
      const [view, rest] = this.#log.views(last);
      if (!view) break;
      const isCut = rest && view.length <= longestCutOff;
      scan.follow(isCut ? this.#log.read(last, last + scanBytes).bytes : view.subarray(0, scanBytes));
    }
    if (scan.skippable >= worthForgetting) scan.skip(this.#bytes(scan.from, scan.end));
  }

  /** Brings what was followed onto the screen. False when nothing was, or not worth it. */
  #show(): boolean {
    const scan = this.#scan;
    if (!scan) return false;
    this.#scan = undefined;
    if (!this.#screen.fastForward(scan, this.#bytes(scan.from, scan.end))) {
      this.#scannedTo = scan.end;
      // After a mistake the screen is blank, and what was skipped is gone.
      this.#parsedTo = Math.max(this.#parsedTo, this.#log.start);
      return false;
    }
    this.#parsedTo = scan.end;
    return true;
  }

  /** The log drops what is before `offset`. No byte goes unseen, however the log is filled; also not while parsing. */
  #leave(offset: number): void {
    try {
      const scan = this.#scan;
      if (scan && scan.from < offset) scan.skip(this.#bytes(scan.from, scan.end));
      if (scan && scan.from >= offset) return;
    } catch (thrown) {
      this.#parseInstead(thrown);
    }
    this.#show();
    this.#advance(offset, Number.POSITIVE_INFINITY);
  }

  /** A mistake in looking ahead: nothing of it is on the screen yet, so all that is still there is parsed. */
  #parseInstead(thrown: unknown): void {
    this.#scan = undefined;
    this.#scannedTo = this.#log.end;
    this.#parsedTo = Math.max(this.#parsedTo, this.#log.start);
    this.#screen.fault(thrown);
  }

  #bytes(from: number, to: number): Uint8Array {
    const [view, rest] = this.#log.views(from, to);
    return rest || !view ? this.#log.read(from, to).bytes : view;
  }

  #tell(): void {
    if (this.#waiting.length > 0) {
      const reached = this.#waiting.filter(({ target }) => target <= this.#parsedTo);
      if (reached.length > 0) this.#waiting = this.#waiting.filter(({ target }) => target > this.#parsedTo);
      for (const { done } of reached) done();
    }
    if (this.#room && this.#needed <= this.#log.capacity >> 2) {
      this.#room.resolve();
      this.#room = undefined;
    }
  }

  /** One timer at most; it looks how long ago the screen was used, and comes back when that is long enough. */
  #sleepLater(ms = this.#idleMs): void {
    if (this.#idle || this.#disposed) return;
    this.#idle = this.#screen.clock.after(ms, () => {
      this.#idle = undefined;
      const left = this.#screen.lastUsedMs + this.#idleMs - this.#screen.clock.monotonic();
      if (left > 0) this.#sleepLater(left);
      else if (this.#pending > 0 || this.#watchers > 0 || !this.#hibernate()) this.#sleepLater();
    });
  }

  /** A fault of ours leaves it awake; this runs by itself, so there is no caller to tell. */
  #hibernate(): boolean {
    try {
      return this.#screen.hibernate();
    } catch (thrown) {
      this.#screen.fault(thrown);
      return false;
    }
  }
}

function cancelled(signal: AbortSignal | undefined): FairleadError {
  return new FairleadError('cancelled', 'The wait for the screen was cancelled.', { cause: signal?.reason });
}
