import type { Clock } from '../../../lib/clock.ts';
import type { SshLink } from './link.ts';

const everyMs = 30_000;
const maxMissed = 3;

interface KeepaliveWatch {
  /** Called when the number of unanswered ones in a row changes. */
  readonly missed: (count: number) => void;
  /** Called once: the last of three stayed unanswered. */
  readonly dead: () => void;
}

/** Asks the server for a sign of life now and then, so that a silent death is noticed. */
export class Keepalive implements Disposable {
  readonly #link: SshLink;
  readonly #clock: Clock;
  readonly #watch: KeepaliveWatch;
  readonly #stop = new AbortController();
  #timer: Disposable | undefined;
  #missed = 0;

  constructor(link: SshLink, clock: Clock, watch: KeepaliveWatch) {
    this.#link = link;
    this.#clock = clock;
    this.#watch = watch;
    this.#arm();
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#timer?.[Symbol.dispose]();
  }

  #arm(): void {
    this.#timer = this.#clock.after(everyMs, () => this.#ask());
  }

  /** An answer may take until the next one is due. */
  #ask(): void {
    let late = false;
    const settle = (answered: boolean): void => {
      if (late || this.#stop.signal.aborted || this.#link.end !== undefined) return;
      late = true;
      const before = this.#missed;
      this.#missed = answered ? 0 : before + 1;
      if (this.#missed !== before) this.#watch.missed(this.#missed);
      if (this.#missed >= maxMissed) return this.#watch.dead();
      if (answered) this.#arm();
      else this.#ask();
    };
    this.#timer = this.#clock.after(everyMs, () => settle(false));
    const answered = (): void => {
      if (!late) this.#timer?.[Symbol.dispose]();
      settle(true);
    };
    // A ping that fails comes from a link that ends, which is told by the link itself.
    this.#link.ping(this.#stop.signal).then(answered, () => {});
  }
}
