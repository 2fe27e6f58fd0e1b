import type { FairleadError } from '../../contract/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CallContext } from '../call/call.ts';
import type { AnyOperation } from '../call/operation.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { AgentConversation } from './conversation.ts';
import { queueFull } from './hold-errors.ts';
import { sizeOf } from './size-of.ts';

/** How long a call waits for the person, and how long its answer waits for the agent. */
export const holdMs = 30 * 60_000;
const answerMs = 10 * 60_000;
/** For one conversation. */
const mostHeld = 50;
const mostHeldBytes = 1 << 20;
/** Answers that wait, of all conversations. */
const mostAnswers = 1000;
const mostAnswerBytes = 32 << 20;

/** A call that waits for the person. */
export interface PausedCall {
  readonly id: string;
  /** Its row of the timeline. */
  readonly call: string;
  readonly conversation: AgentConversation;
  /** The same for the same call. */
  readonly identity: string;
  readonly op: AnyOperation;
  readonly operation: string;
  readonly raw: unknown;
  readonly input: unknown;
  readonly commands: readonly string[];
  readonly context: Pick<CallContext, 'caller' | 'key'>;
  /** The one that it is for, as far as that is known. */
  readonly terminal: Terminal | undefined;
  /** It named none: it is for the default session. */
  readonly isDefault: boolean;
  readonly preview: string;
  readonly bytes: number;
  /** In ms since the epoch. */
  readonly since: number;
  readonly until: number;
  isRunning: boolean;
}

export type HoldOutcome = { readonly output: unknown } | { readonly error: FairleadError };

interface Answer {
  readonly conversation: AgentConversation;
  readonly outcome: HoldOutcome;
  /** Told once and then forgotten: the same call again is a new one. */
  readonly isOnce: boolean;
  readonly bytes: number;
  /** On the monotonic clock. */
  readonly until: number;
  isTold: boolean;
}

/** The calls that wait, in order, and the answers of those that ran, for agents that ask again. */
export class HoldQueue implements Disposable {
  readonly #clock: Clock;
  readonly #expired: (held: PausedCall) => void;
  readonly #held = new Map<string, PausedCall>();
  readonly #answers = new Map<string, Answer>();
  #answerBytes = 0;
  #timer: Disposable | undefined;

  constructor(clock: Clock, expired: (held: PausedCall) => void) {
    this.#clock = clock;
    this.#expired = expired;
  }

  /** The first one first. */
  get all(): PausedCall[] {
    return [...this.#held.values()];
  }

  of(conversation: AgentConversation): PausedCall[] {
    return this.all.filter((one) => one.conversation === conversation);
  }

  withId(id: string): PausedCall | undefined {
    return this.all.find((one) => one.id === id);
  }

  find(identity: string): PausedCall | undefined {
    return this.#held.get(identity);
  }

  /** Throws when this conversation has too many. */
  add(held: PausedCall): void {
    const own = this.of(held.conversation);
    const bytes = own.reduce((sum, one) => sum + one.bytes, held.bytes);
    if (own.length >= mostHeld || bytes > mostHeldBytes) throw queueFull(held.conversation.id);
    this.#held.set(held.identity, held);
    this.#watch();
  }

  /** False when it was gone already. */
  remove(held: PausedCall): boolean {
    return this.#held.get(held.identity) === held && this.#held.delete(held.identity);
  }

  /** Keeps what became of it, for the agent that asks again. */
  keep({ identity, conversation }: PausedCall, outcome: HoldOutcome, isOnce: boolean): void {
    const bytes = 'output' in outcome ? sizeOf(outcome.output) : 0;
    this.#forget(identity);
    const until = this.#clock.monotonic() + answerMs;
    this.#answers.set(identity, { conversation, outcome, isOnce, bytes, until, isTold: false });
    this.#answerBytes += bytes;
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= mostAnswers && this.#answerBytes <= mostAnswerBytes) break;
      this.#forget(oldest);
    }
    this.#watch();
  }

  answerFor(identity: string): HoldOutcome | undefined {
    this.#expire();
    const answer = this.#answers.get(identity);
    if (!answer) return undefined;
    answer.isTold = true;
    if (answer.isOnce) this.#forget(identity);
    return answer.outcome;
  }

  /** The agent has gone on to something else: the same call again is meant to run. */
  movedOn(conversation: AgentConversation): void {
    for (const [identity, answer] of this.#answers) {
      if (answer.conversation === conversation && answer.isTold) this.#forget(identity);
    }
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#answers.clear();
  }

  #forget(identity: string): void {
    this.#answerBytes -= this.#answers.get(identity)?.bytes ?? 0;
    this.#answers.delete(identity);
  }

  #expire(): void {
    const now = this.#clock.monotonic();
    for (const [identity, { until }] of this.#answers) if (until <= now) this.#forget(identity);
    for (const held of this.all) if (!held.isRunning && held.until <= this.#clock.now()) this.#expired(held);
  }

  /** One timer for whatever ends first. */
  #watch(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    const answers = [...this.#answers.values()].map(({ until }) => until - this.#clock.monotonic());
    const waiting = this.all.filter(({ isRunning }) => !isRunning).map(({ until }) => until - this.#clock.now());
    const next = Math.min(...answers, ...waiting);
    if (next === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#clock.after(Math.max(1, next), () => {
      this.#expire();
      this.#watch();
    });
  }
}
