import type { Clock } from '../lib/clock.ts';
import type { StreamSettings } from './settings.ts';

/** Why a resource is announced. */
export type FlushCause = 'window' | 'bytes' | 'final' | 'keepalive';

type DebounceSettings = Pick<StreamSettings, 'debounceMs' | 'forceFlushMs' | 'flushBytes' | 'keepaliveMs'>;

/**
 * Turns changes into announcements: the first change of a clean resource opens a window, at whose end it is announced. Many bytes, or
 * the last change, are announced at once; a clean resource only as a sign of life.
 */
export class Debouncer implements Disposable {
  readonly #clock: Clock;
  readonly #settings: DebounceSettings;
  readonly #flush: (cause: FlushCause) => void;
  #isDirty = false;
  #bytes = 0;
  #timer: Disposable | undefined;
  #isOver = false;

  constructor(clock: Clock, settings: DebounceSettings, flush: (cause: FlushCause) => void) {
    this.#clock = clock;
    this.#settings = settings;
    this.#flush = flush;
    this.#arm();
  }

  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** There is something new. */
  poke(bytes: number): void {
    if (this.#isOver) return;
    this.#bytes += bytes;
    const { flushBytes } = this.#settings;
    if (flushBytes > 0 && this.#bytes >= flushBytes) this.#now('bytes');
    else if (!this.#isDirty) {
      this.#isDirty = true;
      this.#arm();
    }
  }

  /** The last change: announces it and everything before it, and then nothing more. */
  finish(): void {
    if (this.#isOver) return;
    this.#now('final');
    this[Symbol.dispose]();
  }

  /** Announces what waits, if anything does. */
  flush(): void {
    if (this.#isDirty && !this.#isOver) this.#now('window');
  }

  #now(cause: FlushCause): void {
    this.#isDirty = false;
    this.#bytes = 0;
    this.#arm();
    this.#flush(cause);
  }

  #arm(): void {
    this.#timer?.[Symbol.dispose]();
    const { debounceMs, forceFlushMs, keepaliveMs } = this.#settings;
    this.#timer = this.#isDirty
      ? this.#clock.after(Math.min(debounceMs, forceFlushMs), () => this.#now('window'))
      : this.#clock.after(keepaliveMs, () => this.#now('keepalive'));
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#timer?.[Symbol.dispose]();
  }
}
