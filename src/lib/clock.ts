/** Time, so that code which decides by it can be tested without sleeping. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonic(): number;
  /** Calls back once after `ms`. A timer never keeps the process alive by itself. */
  after(ms: number, run: () => void): Disposable;
}
