import { type Deferred, deferred } from '../../../lib/deferred.ts';
import type { RecentSecrets } from '../../person/recent-secrets.ts';
import type { Feeder } from '../../screen/feed/feeder.ts';
import type { OlderRows } from '../../screen/older/older-rows.ts';
import type { Channel } from '../channel.ts';

/** Brings what the far side has written onto the screen. */
export class ScreenFeed implements Disposable {
  /** Rows that have left the emulator. */
  readonly older: OlderRows;
  readonly #channel: Channel;
  readonly #secrets: RecentSecrets;
  readonly #feeder: Feeder;
  #isOver = false;
  #holds = 0;
  #held: Deferred<void> | undefined;

  constructor(channel: Channel, secrets: RecentSecrets, feeder: Feeder, older: OlderRows) {
    this.older = older;
    this.#channel = channel;
    this.#secrets = secrets;
    this.#feeder = feeder;
  }

  /** The screen shows exactly the output before this offset. */
  get shownTo(): number {
    return this.#feeder.parsedTo;
  }

  /** While held, output is parsed as it arrives: a call waits for it. */
  parseEagerly(): Disposable {
    return this.#feeder.watch();
  }

  /** A promise while no more output can be taken: it is held, or the screen is too far behind. */
  room(): Promise<void> | undefined {
    return this.#held ? this.#held.promise.then(() => this.room()) : this.#feeder.room();
  }

  /** While held, no more output is taken from the far side, which then has to wait. The holder sets a limit. */
  hold(): Disposable {
    this.#holds += 1;
    this.#held ??= deferred();
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#holds -= 1;
        if (this.#holds === 0) this.letFlow();
      },
    };
  }

  /** Nothing holds it any more: what is left may come. */
  letFlow(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  /** Fetches what the far side has written and this process has not read; it arrives as output a moment later. */
  flush(): void | Promise<void> {
    return this.#isOver ? undefined : this.#channel.flush?.();
  }

  /** Resolves when the screen shows every byte the far side has written so far. Does not count as use of the terminal. */
  async sync(signal?: AbortSignal): Promise<void> {
    if (!this.#isOver && this.#channel.flush) {
      await this.flush();
      // Flushed bytes reach the log one turn of the loop later, unless the pump has taken them already.
      if (this.#channel.output.size > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await this.#secrets.released;
    await this.#feeder.sync(signal);
  }

  /** The far side has ended: nothing is left to fetch. */
  end(): void {
    this.#isOver = true;
  }

  [Symbol.dispose](): void {
    this.older[Symbol.dispose]();
    this.#feeder[Symbol.dispose]();
  }
}
