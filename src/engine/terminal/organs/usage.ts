import type { Clock } from '../../../lib/clock.ts';
import { Emitter } from '../../../lib/emitter.ts';
import type { Intake } from '../intake.ts';
import type { TerminalHistory } from './history.ts';

/** The clients that use a terminal, by what tells them apart. */
export interface ClientUse {
  /** Those that opened it or typed into it. */
  readonly seen: Map<string, { readonly name: string; readonly isGone: boolean }>;
  /** What each client was told about the others. */
  readonly told: Map<string, Set<string>>;
}

/** When a terminal was last used: by its callers, or by its program. */
export class Usage {
  clients: ClientUse | undefined;
  /** Who chose its size after it was opened. */
  sizedBy: string | undefined;
  /** What happened to it beside its output: who typed, commands, sizes. */
  readonly history: TerminalHistory;
  /** Whether it is held, whenever that changes. */
  readonly onHeld = new Emitter<boolean>();
  readonly #clock: Clock;
  readonly #intake: Pick<Intake, 'lastMs'>;
  #markedAt: number;
  #holders = 0;

  constructor(clock: Clock, intake: Pick<Intake, 'lastMs'>, history: TerminalHistory) {
    this.#clock = clock;
    this.#intake = intake;
    this.history = history;
    this.#markedAt = clock.now();
  }

  /** Monotonic time of the newest output. */
  get lastOutputMs(): number | undefined {
    return this.#intake.lastMs;
  }

  /** The newest sign of life, ours or the program's, in ms since the epoch. */
  get lastAt(): number {
    if (this.#holders > 0) return this.#clock.now();
    const output = this.lastOutputMs;
    const outputAt = output === undefined ? 0 : this.#clock.now() - (this.#clock.monotonic() - output);
    return Math.max(this.#markedAt, Math.round(outputAt));
  }

  /** A person is attached, or a call waits for it. */
  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** A call looked at it or typed into it: it is not idle. */
  mark(): void {
    this.#markedAt = this.#clock.now();
  }

  /** While held, it is not idle, however quiet it is. */
  keepAwake(): Disposable {
    this.#holders += 1;
    if (this.#holders === 1) this.onHeld.emit(true);
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (!held) return;
        held = false;
        this.#holders -= 1;
        this.mark();
        if (this.#holders === 0) this.onHeld.emit(false);
      },
    };
  }
}
