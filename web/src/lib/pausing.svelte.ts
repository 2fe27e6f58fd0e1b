import { feed } from './feed.svelte.ts';
import { faultWords } from './fault.ts';

/** A pause that the server did not take is tried again after so long. */
const againMs = 1000;

/** The one act that is tried until it worked: pausing everything. */
class Pausing {
  /** It did not reach the server yet. */
  isTrying = $state(false);
  fault = $state<string>();
  /** When this page resumed everything. */
  resumedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  everything(): void {
    this.isTrying = true;
    this.fault = undefined;
    clearTimeout(this.#timer);
    void this.#try();
  }

  giveUp(): void {
    this.isTrying = false;
    clearTimeout(this.#timer);
  }

  async #try(): Promise<void> {
    try {
      if (!feed.live) throw new Error('There is no connection.');
      await feed.live.call('agents.pause', {});
      this.giveUp();
      this.fault = undefined;
    } catch (error) {
      this.fault = faultWords(error);
      // What another did meanwhile counts, too.
      if (feed.pause) this.giveUp();
      else if (this.isTrying) this.#timer = setTimeout(() => void this.#try(), againMs);
    }
  }
}

export const pausing = new Pausing();
