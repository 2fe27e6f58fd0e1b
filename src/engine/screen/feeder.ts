import { FairleadError } from '../../contract/errors.ts';
import { Emitter } from '../../lib/emitter.ts';
import type { OutputLog } from '../output-log.ts';
import { type FeedJob, type FeedSchedule, scheduleOf } from './feed-schedule.ts';
import { worthScanning } from './fast-forward.ts';
import type { Screen } from './screen.ts';
import { nextSlice } from './slice.ts';

export interface FeederOptions {
  readonly schedule?: FeedSchedule;
  /** How long a screen nobody uses stays awake. */
  readonly idleMs?: number;
  /** False parses every byte: for comparing. */
  readonly fastForward?: boolean;
  /** The screen shows everything before this offset already. */
  readonly from?: number | undefined;
}

/** Parsed in one go before looking at the clock again; less at first, and once a slice took too long. */
const sliceBytes = 16 << 10;
const firstSlice = 4 << 10;
/** What someone waits for is parsed in the call that brings it, up to this much, if it goes quickly. */
const atOnceBytes = 32 << 10;
const atOnceMs = 25;
/** Looked through for text to skip in one go: about four milliseconds. */
const scanBytes = 2 << 20;

interface Waiting {
  readonly target: number;
  readonly done: () => void;
}

/** Brings what is in the log onto the screen: at once for those who wait, in shared turns otherwise. */
export class Feeder implements Disposable {
  /** The offset up to which the screen is true, after each step. */
  readonly onParsed = new Emitter<number>();
  readonly #log: OutputLog;
  readonly #screen: Screen;
  readonly #schedule: FeedSchedule;
  readonly #idleMs: number;
  readonly #fastForward: boolean;
  readonly #job: FeedJob = { turn: (deadline) => this.#turn(deadline) };
  readonly #listening: Disposable[];
  #waiting: Waiting[] = [];
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  #parsedTo: number;
  /** Looking for text to skip is useless before this offset. */
  #scannedTo = 0;
  #slice = firstSlice;
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
    this.#listening = [
      log.onAppend.on(() => this.#appended()),
      // Bytes are never dropped unparsed, however the log is filled; also not by an answer while parsing.
      log.onDrop.on((offset) => this.#advance(offset, Number.POSITIVE_INFINITY)),
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
    this.#schedule.request(this.#job, 'now');
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        target,
        done: () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        },
      };
      const abort = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(cancelled(signal));
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiting);
    });
  }

  /** Nothing while there is room; a promise when whoever fills the log should wait before it goes on. */
  room(): Promise<void> | undefined {
    if (this.#disposed || this.#pending <= this.#log.capacity >> 1) return undefined;
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
    const isLittle = this.#pending <= atOnceBytes;
    if (this.#watchers > 0 && isLittle) this.#parseAtOnce();
    else this.#schedule.request(this.#job, this.#watchers > 0 ? 'now' : isLittle ? 'soon' : 'batched');
  }

  #parseAtOnce(): void {
    this.#parse(this.#log.end, this.#screen.clock.monotonic() + atOnceMs);
  }

  #turn(deadline: number): boolean {
    this.#parse(this.#log.end, deadline);
    return this.#pending > 0;
  }

  /** Parses up to `target`, or until the time is up. */
  #parse(target: number, deadline: number): void {
    // An answer of the terminal may bring new output before this call is over; that has its own turn.
    if (this.#parsing || this.#parsedTo >= target) return;
    this.#parsing = true;
    this.#slice = Math.min(this.#slice, firstSlice);
    try {
      this.#advance(target, deadline);
    } finally {
      this.#parsing = false;
    }
    this.#tell();
    if (this.#pending > 0) this.#schedule.request(this.#job, this.#waiting.length > 0 ? 'now' : 'batched');
  }

  #advance(target: number, deadline: number): void {
    while (this.#parsedTo < target) {
      this.#step(target);
      if (this.#screen.clock.monotonic() >= deadline) return;
    }
  }

  #step(target: number): void {
    const [view] = this.#log.views(this.#parsedTo);
    if (!view) return;
    if (this.#fastForward && view.length >= worthScanning && this.#parsedTo >= this.#scannedTo) {
      const { bytes, scanned } = this.#screen.fastForward(view.subarray(0, scanBytes));
      this.#scannedTo = this.#parsedTo + scanned;
      this.#parsedTo += bytes;
      if (bytes > 0) return;
    }
    const bytes = view.subarray(0, Math.min(this.#slice, target - this.#parsedTo));
    // Before feeding: an answer of the terminal may lead to an append, and that back to here.
    this.#parsedTo += bytes.length;
    const started = this.#screen.clock.monotonic();
    this.#screen.feed(bytes);
    this.#slice = nextSlice(this.#slice, this.#screen.clock.monotonic() - started, sliceBytes);
  }

  #tell(): void {
    if (this.#waiting.length > 0) {
      const reached = this.#waiting.filter(({ target }) => target <= this.#parsedTo);
      if (reached.length > 0) this.#waiting = this.#waiting.filter(({ target }) => target > this.#parsedTo);
      for (const { done } of reached) done();
    }
    if (this.#room && this.#pending <= this.#log.capacity >> 2) {
      this.#room.resolve();
      this.#room = undefined;
    }
    this.onParsed.emit(this.#parsedTo);
  }

  /** One timer at most; it looks how long ago the screen was used, and comes back when that is long enough. */
  #sleepLater(ms = this.#idleMs): void {
    if (this.#idle || this.#disposed) return;
    this.#idle = this.#screen.clock.after(ms, () => {
      this.#idle = undefined;
      const left = this.#screen.lastUsedMs + this.#idleMs - this.#screen.clock.monotonic();
      if (left > 0) this.#sleepLater(left);
      else if (this.#pending > 0 || this.#watchers > 0 || !this.#screen.hibernate()) this.#sleepLater();
    });
  }
}

function cancelled(signal: AbortSignal | undefined): FairleadError {
  return new FairleadError('cancelled', 'The wait for the screen was cancelled.', { cause: signal?.reason });
}
