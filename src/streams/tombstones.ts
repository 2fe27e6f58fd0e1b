import type { Clock } from '../lib/clock.ts';

const keptMs = 300_000;
const most = 1000;

/** Names of things that are gone, remembered for five minutes. */
export class Tombstones implements Disposable {
  readonly #clock: Clock;
  /** Until when, the oldest first. */
  readonly #names = new Map<string, number>();
  #timer: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(name: string): boolean {
    return (this.#names.get(name) ?? 0) > this.#clock.monotonic();
  }

  add(name: string): void {
    this.#names.delete(name);
    this.#names.set(name, this.#clock.monotonic() + keptMs);
    this.#forget();
  }

  #forget(): void {
    this.#timer?.[Symbol.dispose]();
    const now = this.#clock.monotonic();
    for (const [name, until] of this.#names) {
      if (until > now && this.#names.size <= most) break;
      this.#names.delete(name);
    }
    const [next] = this.#names.values();
    this.#timer = next === undefined ? undefined : this.#clock.after(next - now, () => this.#forget());
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }
}
