import { feed } from './feed.svelte.ts';
import { CallFailed } from './live.ts';

/** How often a page renews what it has taken over; the server waits for a minute. */
const renewMs = 20_000;
/** An agent that typed has the keyboard for so long after its last key. */
const typingMs = 5000;

/** The keyboard of one terminal, as this page sees it. */
export class Keyboard {
  readonly #id: string;
  #epoch = $state<number>();
  #timer: ReturnType<typeof setInterval> | undefined;
  fault = $state<string>();

  constructor(id: string) {
    this.#id = id;
  }

  get epoch(): number | undefined {
    return this.#epoch;
  }

  get isMine(): boolean {
    return this.#epoch !== undefined;
  }

  /** Who types now, or has it alone. */
  get holder() {
    const { keyboard, state } = feed.terminals.get(this.#id) ?? {};
    if (!keyboard || keyboard.isTaken || keyboard.kind === 'person') return keyboard;
    const isHeld = state === 'running' || feed.now - keyboard.since < typingMs;
    return isHeld ? keyboard : undefined;
  }

  /** Keys of this page would disturb another. */
  get isHeldByOther(): boolean {
    const { holder } = this;
    return !this.isMine && holder !== undefined && (holder.isTaken || holder.kind === 'agent');
  }

  async take(): Promise<void> {
    this.fault = undefined;
    try {
      this.#epoch = await this.#ask(undefined);
      this.#timer = setInterval(() => void this.#renew(), renewMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  async give(note: string): Promise<void> {
    const epoch = this.#epoch;
    this.dispose();
    if (epoch === undefined) return;
    try {
      await feed.live?.call('person.give', { session: this.#id, epoch, ...(note !== '' && { note }) });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Another took it, or the link was gone for too long. */
  lost(): void {
    this.dispose();
    this.fault = 'You do not have the keyboard any more. Keys are not sent.';
  }

  dispose(): void {
    clearInterval(this.#timer);
    this.#epoch = undefined;
  }

  async #ask(epoch: number | undefined): Promise<number | undefined> {
    const answer = await feed.live?.call<{ epoch: number }>('person.take', {
      session: this.#id,
      ...(epoch !== undefined && { epoch }),
    });
    return answer?.epoch;
  }

  async #renew(): Promise<void> {
    const before = this.#epoch;
    if (before === undefined || feed.link !== 'live') return;
    if (feed.terminals.get(this.#id)?.keyboard?.isTaken !== true) return this.lost();
    const now = await this.#ask(before).catch(() => before);
    if (now !== before) this.lost();
  }

  #fail(error: unknown): void {
    this.fault = error instanceof CallFailed ? error.failure.message : String(error);
  }
}
