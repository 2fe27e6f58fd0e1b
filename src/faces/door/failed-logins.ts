import type { Clock } from '../../lib/clock.ts';
import { onAbort } from '../../system/on-abort.ts';

export interface FailedLogin {
  /** Address and port it came from. */
  readonly peer: string;
  readonly face: 'rpc' | 'http';
  /** How many attempts this stands for: in a storm only the first are reported one by one. */
  readonly count: number;
}

/** Failures within this time add up. After `toldEach` of them only their number is reported. */
const windowMs = 60_000;
const freeFailures = 5;
const toldEach = 20;
const slowedMs = 1000;

/** Wrong tokens on all ports and connections: one count for the whole process. */
export class FailedLogins implements Disposable {
  readonly #clock: Clock;
  readonly #tell: (failure: FailedLogin) => void;
  #recent = 0;
  #untold: { count: number; last: Omit<FailedLogin, 'count'> } | undefined;
  #window: Disposable | undefined;

  constructor(clock: Clock, tell: (failure: FailedLogin) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** How long the answer to a wrong token is delayed now. The answer to the right token never is. */
  get delayMs(): number {
    return this.#recent >= freeFailures ? slowedMs : 0;
  }

  add(failure: Omit<FailedLogin, 'count'>): void {
    this.#recent += 1;
    this.#window ??= this.#clock.after(windowMs, () => this.#close());
    if (this.#recent <= toldEach) this.#tell({ ...failure, count: 1 });
    else this.#untold = { count: (this.#untold?.count ?? 0) + 1, last: failure };
  }

  /** Resolves after `ms`, or when the client leaves. */
  async pause(ms: number, gone: AbortSignal): Promise<void> {
    if (ms === 0) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(ms, () => {
        left[Symbol.dispose]();
        resolve();
      });
      const left = onAbort(gone, () => {
        timer[Symbol.dispose]();
        resolve();
      });
    });
  }

  #close(): void {
    this.#window = undefined;
    this.#recent = 0;
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold) this.#tell({ ...untold.last, count: untold.count });
  }

  [Symbol.dispose](): void {
    this.#window?.[Symbol.dispose]();
    if (this.#untold) this.#close();
  }
}
