import { FairleadError } from '../../contract/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { deferred } from '../../lib/deferred.ts';
import { Emitter } from '../../lib/emitter.ts';
import { onAbort } from '../../system/on-abort.ts';
import { timings } from '../waiting/timings.ts';

/** Who has the keyboard of a terminal. */
export interface KeyboardHolder {
  readonly by: string;
  readonly kind: 'agent' | 'person';
  /** A person has it alone, until handing it back; otherwise it is free again soon after the last key. */
  readonly isTaken: boolean;
  /** In ms since the epoch. */
  readonly since: number;
}

/** What a person leaves for the agents that were kept out. */
export interface HandBack {
  readonly by: string;
  readonly ms: number;
  readonly note: string | undefined;
  /** Commands that ran meanwhile; 0 also where the shell marks none. */
  readonly commands: number;
  /** Of the last of them. */
  readonly exitCode: number | undefined;
}

/** What the lease has to know of the commands in its terminal. */
export interface CommandCount {
  readonly isRunning: boolean;
  /** Commands so far; each has the number of its turn. */
  readonly count: number;
  readonly lastExit: number | undefined;
}

const { typingMs, renewMs, idleMs } = timings.keyboardLease;
const none: CommandCount = { isRunning: false, count: 0, lastExit: undefined };

/**
 * Says whose keys may go into a terminal. Who types has the keyboard for a few seconds, and agents wait that long for a person. A person
 * may take it over: then every other input is refused, not queued, because keys that were meant for an old screen must not come later.
 */
export class KeyboardLease {
  /** The new holder, after each change. */
  readonly changed = new Emitter<KeyboardHolder | undefined>();
  readonly #clock: Clock;
  readonly #commands: () => CommandCount;
  #holder: KeyboardHolder | undefined;
  /** Of the newest that was taken over. */
  #epoch = 0;
  #timer: Disposable | undefined;
  /** When an agent that typed has it no longer. */
  #until = 0;
  #handBack: HandBack | undefined;
  /** Commands before it was taken over, and when its holder last pressed a key. */
  #countBefore = 0;
  #usedMs = 0;
  #atEnd: (() => void) | undefined;

  constructor(clock: Clock, commands: () => CommandCount = () => none) {
    this.#clock = clock;
    this.#commands = commands;
  }

  get holder(): KeyboardHolder | undefined {
    // An agent's few seconds need no timer: they end unless it types again, or what it started still runs.
    const isOver =
      this.#holder?.kind === 'agent' && this.#clock.monotonic() >= this.#until && !this.#commands().isRunning;
    return isOver ? undefined : this.#holder;
  }

  /** Of the newest taking over. */
  get epoch(): number {
    return this.#epoch;
  }

  /** What agents have to be told. */
  get handBack(): HandBack | undefined {
    return this.#handBack;
  }

  /** Throws when another has taken the keyboard over. `epoch`: what the sender was given when it took it over. */
  admit(epoch?: number): void {
    if (this.#holder?.isTaken === true && epoch !== this.#epoch) throw taken(this.#holder);
  }

  /** Keys of this sender are about to go. */
  typed(by: string, kind: KeyboardHolder['kind']): void {
    const { holder } = this;
    if (holder?.isTaken === true && kind === 'person') this.#used();
    // An agent does not push a person aside.
    if (holder?.isTaken === true || (kind === 'agent' && holder?.kind === 'person')) return;
    if (holder?.by !== by || holder.kind !== kind) this.#set({ by, kind, isTaken: false, since: this.#clock.now() });
    if (kind === 'person') this.#expireAfter(typingMs);
    else this.#until = this.#clock.monotonic() + typingMs;
  }

  /** Resolves when no person types, after a few seconds in any case, or when the signal is aborted. */
  async whenPersonPauses(signal: AbortSignal): Promise<void> {
    if (this.#holder?.kind !== 'person' || this.#holder.isTaken) return;
    const paused = deferred();
    using _changed = this.changed.on(() => paused.resolve());
    using _limit = this.#clock.after(typingMs, () => paused.resolve());
    using _abort = onAbort(signal, () => paused.resolve());
    await paused.promise;
  }

  /** A person takes it over; with the number of an earlier taking that still holds, renews it. The answer goes with that person's keys. */
  take(by: string, epoch?: number): number {
    if (epoch === undefined || !this.holds(epoch)) {
      const over = this.#holder?.isTaken === true ? this.#leave(undefined) : undefined;
      this.#epoch += 1;
      this.#countBefore = this.#commands().count;
      this.#usedMs = this.#clock.monotonic();
      this.#set({ by, kind: 'person', isTaken: true, since: this.#clock.now() });
      over?.();
    }
    this.#expireAfter(Math.min(renewMs, this.#idleLeft));
    return this.#epoch;
  }

  /** This taking over still holds. */
  holds(epoch: number): boolean {
    return this.#holder?.isTaken === true && epoch === this.#epoch;
  }

  /** Calls this once, when the taking over that holds now is over. Only the first of each is called. */
  whenOver(act: () => void): void {
    if (this.#holder?.isTaken === true) this.#atEnd ??= act;
  }

  /** What a hand-back now would leave for the agents. */
  preview(epoch: number, note?: string): HandBack | undefined {
    return this.holds(epoch) ? this.#handBackNow(note) : undefined;
  }

  /** Hands it back. False when this taking was over already. */
  give(epoch: number, note?: string): boolean {
    if (!this.holds(epoch)) return false;
    this.#release(note);
    return true;
  }

  /** An agent knows of it now. */
  told(handBack: HandBack): void {
    if (this.#handBack === handBack) this.#handBack = undefined;
  }

  close(): void {
    this.#timer?.[Symbol.dispose]();
  }

  #expireAfter(ms: number): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#clock.after(ms, () => this.#release(undefined));
  }

  #release(note: string | undefined): void {
    this.#timer?.[Symbol.dispose]();
    const over = this.#leave(note);
    this.#set(undefined);
    over?.();
  }

  /** Notes what the holder leaves; the answer is to be called when the next holder is known. */
  #leave(note: string | undefined): (() => void) | undefined {
    if (this.#holder?.isTaken === true) this.#handBack = this.#handBackNow(note);
    const atEnd = this.#atEnd;
    this.#atEnd = undefined;
    return atEnd;
  }

  #handBackNow(note: string | undefined): HandBack {
    const { by = '', since = 0 } = this.#holder ?? {};
    const { count, lastExit } = this.#commands();
    const commands = Math.max(0, count - this.#countBefore);
    return { by, ms: this.#clock.now() - since, note, commands, exitCode: commands > 0 ? lastExit : undefined };
  }

  /** Time that its holder may still be silent. */
  get #idleLeft(): number {
    return Math.max(0, this.#usedMs + idleMs - this.#clock.monotonic());
  }

  #used(): void {
    const wasDue = this.#idleLeft < renewMs;
    this.#usedMs = this.#clock.monotonic();
    // The page renews it about three times a minute; only a person who was about to lose it gets more time from a key.
    if (wasDue) this.#expireAfter(renewMs);
  }

  #set(holder: KeyboardHolder | undefined): void {
    this.#holder = holder;
    this.changed.emit(holder);
  }
}

function taken({ by, since }: KeyboardHolder): FairleadError {
  const at = new Date(since).toISOString();
  return new FairleadError('conflict', `The keyboard is taken: ${by} has it since ${at}. Nothing was typed.`, {
    hint: 'Reading goes on. Wait until it is handed back, then look at the screen before you type.',
    data: { keyboard_taken: { by, since: at } },
  });
}
