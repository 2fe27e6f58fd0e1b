import type { Clock } from '../../lib/clock.ts';
import type { Terminal } from '../terminal/terminal.ts';

interface EndedLimits {
  readonly keptMs: number;
  /** So that the terminals of one owner push out none of another's. */
  readonly perOwner: number;
}

/** Keeps terminals that have ended readable for a while, and then drops them. */
export class EndedTerminals implements Disposable {
  readonly #clock: Clock;
  readonly #limits: EndedLimits;
  readonly #drop: (terminal: Terminal) => void;
  readonly #timers = new Map<Terminal, Disposable>();

  constructor(clock: Clock, limits: EndedLimits, drop: (terminal: Terminal) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#drop = drop;
  }

  keep(terminal: Terminal): void {
    const { keptMs, perOwner } = this.#limits;
    this.#timers.set(
      terminal,
      this.#clock.after(keptMs, () => this.#drop(terminal)),
    );
    const theirs = [...this.#timers.keys()].filter(({ identity: { owner } }) => owner === terminal.identity.owner);
    const oldestFirst = theirs.toSorted((a, b) => a.identity.number - b.identity.number);
    for (const one of oldestFirst.slice(0, -perOwner)) this.#drop(one);
  }

  forget(terminal: Terminal): void {
    this.#timers.get(terminal)?.[Symbol.dispose]();
    this.#timers.delete(terminal);
  }

  [Symbol.dispose](): void {
    for (const terminal of this.#timers.keys()) this.forget(terminal);
  }
}
