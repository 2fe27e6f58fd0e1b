import { wipeableOf } from '../../system/wipeable.ts';

/** A person pastes no more than this before the far side takes any of it. */
const mostBytes = 8 << 20;

/** Sends what a person types in order: one request at a time, with all that was typed meanwhile. */
export class TypingLane {
  readonly #send: (bytes: Buffer) => Promise<unknown>;
  readonly #failed: () => void;
  #pending: Buffer[] = [];
  #size = 0;
  #sending: Promise<void> | undefined;

  /** `failed`: keys do not get through, or pile up. */
  constructor(send: (bytes: Buffer) => Promise<unknown>, failed: () => void) {
    this.#send = send;
    this.#failed = failed;
  }

  /** Settles when all that was typed so far is sent. Never rejects. */
  get sent(): Promise<void> | undefined {
    return this.#sending;
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#size += bytes.length;
    if (this.#size > mostBytes) return this.#failed();
    this.#pending.push(bytes);
    this.#sending ??= this.#work().finally(() => {
      this.#sending = undefined;
    });
  }

  async #work(): Promise<void> {
    try {
      while (this.#pending.length > 0) {
        const bytes = wipeableOf(this.#pending);
        this.#pending = [];
        this.#size = 0;
        await this.#send(bytes);
      }
    } catch {
      this.#failed();
    }
  }
}
