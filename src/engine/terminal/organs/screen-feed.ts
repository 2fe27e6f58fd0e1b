import type { RecentSecrets } from '../../person/recent-secrets.ts';
import type { Feeder } from '../../screen/feed/feeder.ts';
import type { Channel } from '../channel.ts';

/** Brings what the far side has written onto the screen. */
export class ScreenFeed implements Disposable {
  readonly #channel: Channel;
  readonly #secrets: RecentSecrets;
  readonly #feeder: Feeder;
  #isOver = false;

  constructor(channel: Channel, secrets: RecentSecrets, feeder: Feeder) {
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

  /** A promise while the screen is too far behind to take more output. */
  room(): Promise<void> | undefined {
    return this.#feeder.room();
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
    this.#feeder[Symbol.dispose]();
  }
}
