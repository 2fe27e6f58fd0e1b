import { faultWords } from './fault.ts';
import { feed } from './feed.svelte.ts';
import { shown } from './visible.ts';

/** How often a page renews what it has taken over; the server waits for a minute. */
const renewMs = 20_000;
/** An agent that typed has the keyboard for so long after its last key. */
const typingMs = 5000;
/** Without a key for so long the server hands it back; a minute before that the page reminds of it. */
const idleMs = 600_000;
const remindMs = 60_000;

/** The keyboard of one terminal, as this page sees it. */
export class Keyboard {
  readonly #id: string;
  /** Called when it was this page's and is no more, with words about why. */
  readonly #lost: (why: string) => void;
  #epoch = $state<number>();
  /** When the server began to count it as ours: another time is another taking over. */
  #since: number | undefined;
  /** What was handed back: until the server says so, it does not count as another's. */
  #gaveSince = $state<number>();
  #usedAt = $state(0);
  #timer: ReturnType<typeof setInterval> | undefined;
  #waiting = $state<AbortController>();
  /** The agent that typed last, who waits while a person has the keyboard. */
  agent = $state<string>();
  fault = $state<string>();

  constructor(id: string, lost: (why: string) => void) {
    this.#id = id;
    this.#lost = lost;
  }

  get #key(): string {
    return `keyboard ${this.#id}`;
  }

  get epoch(): number | undefined {
    return this.#epoch;
  }

  get isMine(): boolean {
    return this.#epoch !== undefined;
  }

  /** It will be taken over when the command that runs has ended. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
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
    if (this.isMine || holder === undefined || holder.since === this.#gaveSince) return false;
    return holder.isTaken || holder.kind === 'agent';
  }

  /** How long until it is handed back for want of a key; undefined while there is time. */
  get idleLeftMs(): number | undefined {
    const left = this.#usedAt + idleMs - feed.now;
    return this.isMine && left < remindMs ? Math.max(0, left) : undefined;
  }

  /** A key of this page went out. */
  used(): void {
    this.#usedAt = Date.now();
  }

  /** Compares with what the server says; an effect calls it at each change. */
  check(): void {
    const { keyboard } = feed.terminals.get(this.#id) ?? {};
    if (keyboard?.kind === 'agent') this.agent = keyboard.by;
    if (!this.isMine) return;
    if (keyboard?.isTaken === true) {
      this.#since ??= keyboard.since;
      if (keyboard.since !== this.#since) this.#lose(`${shown(keyboard.by, 32)} took the keyboard.`);
    } else if (this.#since !== undefined) {
      const isIdle = Date.now() - this.#usedAt >= idleMs - 1000;
      this.#lose(isIdle ? 'The keyboard was handed back after 10 idle minutes.' : 'The keyboard was handed back.');
    }
  }

  /** After a reload, or back from another page, what this tab had taken over is still its own. */
  async resume(): Promise<void> {
    const epoch = Number(sessionStorage.getItem(this.#key) ?? Number.NaN);
    if (Number.isNaN(epoch) || this.isMine) return;
    try {
      await feed.live?.call('person.take', { session: this.#id, epoch });
      this.#begin(epoch);
    } catch {
      sessionStorage.removeItem(this.#key);
    }
  }

  async take(when: 'now' | 'command_ends' = 'now'): Promise<void> {
    this.fault = undefined;
    this.stopWaiting();
    const waiting = new AbortController();
    if (when === 'command_ends') this.#waiting = waiting;
    try {
      const input = { session: this.#id, when };
      const answer = await feed.live?.call<{ epoch: number }>('person.take', input, waiting.signal);
      if (!answer) return;
      // It came although it was given up: it goes back at once.
      if (waiting.signal.aborted) return void (await this.#call('person.give', { epoch: answer.epoch }));
      this.#begin(answer.epoch);
    } catch (error) {
      if (!waiting.signal.aborted) this.fault = faultWords(error);
    } finally {
      if (this.#waiting === waiting) this.#waiting = undefined;
    }
  }

  /** Does not take it at the end of the command after all. */
  stopWaiting(): void {
    this.#waiting?.abort();
    this.#waiting = undefined;
  }

  /** The very words that the agent will be told. */
  async preview(note: string): Promise<string | undefined> {
    const input = { epoch: this.#epoch, ...(note !== '' && { note }), preview: true };
    const answer = (await this.#call('person.give', input)) as { told: string } | undefined;
    return answer?.told;
  }

  async give(note: string): Promise<void> {
    const epoch = this.#epoch;
    this.#gaveSince = this.#since;
    this.#end();
    if (epoch !== undefined) await this.#call('person.give', { epoch, ...(note !== '' && { note }) });
  }

  /** The page is left. Who comes back within a minute still has the keyboard; then the server hands it back. */
  dispose(): void {
    this.stopWaiting();
    clearInterval(this.#timer);
    this.#epoch = undefined;
  }

  #begin(epoch: number): void {
    this.#epoch = epoch;
    sessionStorage.setItem(this.#key, String(epoch));
    this.#since = undefined;
    this.used();
    this.#timer = setInterval(() => void this.#renew(), renewMs);
    this.check();
  }

  #end(): void {
    clearInterval(this.#timer);
    this.#epoch = undefined;
    this.#since = undefined;
    sessionStorage.removeItem(this.#key);
  }

  #lose(why: string): void {
    this.#end();
    this.#lost(why);
  }

  async #renew(): Promise<void> {
    if (this.#epoch === undefined || feed.link !== 'live') return;
    try {
      await feed.live?.call('person.take', { session: this.#id, epoch: this.#epoch });
    } catch {
      // Whether it is still ours, the feed says.
    }
  }

  async #call(op: string, input: object): Promise<unknown> {
    try {
      return await feed.live?.call(op, { session: this.#id, ...input });
    } catch (error) {
      this.fault = faultWords(error);
      return undefined;
    }
  }
}
