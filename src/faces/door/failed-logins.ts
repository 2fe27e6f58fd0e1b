import type { Clock } from '../../lib/clock.ts';

export interface FailedLogin {
  /** Address and port it came from. */
  readonly peer: string;
  readonly face: 'rpc' | 'http';
  /** How many this stands for: of a storm only some are told one by one. */
  readonly count: number;
}

/** Within this time failures add up, and of more than `toldEach` only a sum is told. */
const windowMs = 60_000;
const freeFailures = 5;
const toldEach = 20;
export const slowedMs = 1000;

/** Wrong tokens, on whichever port and connection they were tried: one count for the whole process. */
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

  /** How long the answer to a wrong token waits now. The right token is never made to wait by strangers. */
  get delayMs(): number {
    return this.#recent >= freeFailures ? slowedMs : 0;
  }

  add(failure: Omit<FailedLogin, 'count'>): void {
    this.#recent += 1;
    this.#window ??= this.#clock.after(windowMs, () => this.#close());
    if (this.#recent <= toldEach) this.#tell({ ...failure, count: 1 });
    else this.#untold = { count: (this.#untold?.count ?? 0) + 1, last: failure };
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
