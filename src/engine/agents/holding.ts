import { createHmac, randomBytes } from 'node:crypto';
import type { FairleadError } from '../../contract/errors.ts';
import { commandDetail, typesUnseen } from '../call/audit/command-detail.ts';
import { preview } from '../call/audit/note.ts';
import { call, type CallContext } from '../call/call.ts';
import { canonicalJson } from '../call/idempotency.ts';
import type { AnyOperation } from '../call/operation.ts';
import type { Engine } from '../engine.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { argumentsOf, type CallTrack } from './call-track.ts';
import type { AgentConversation } from './conversation.ts';
import {
  conversationRevoked,
  heldCall,
  heldRead,
  holdDropped,
  holdExpired,
  terminalOver,
  waitsForOthers,
} from './hold-errors.ts';
import { type PausedCall, type HoldOutcome, HoldQueue, holdMs } from './hold-queue.ts';
import type { Pauses } from './pauses.ts';
import type { HoldForecast } from './shapes.ts';
import { sizeOf } from './size-of.ts';

/** A call that asks to go on. */
export interface Admission {
  readonly op: AnyOperation;
  readonly raw: unknown;
  readonly input: unknown;
  readonly commands: readonly string[];
  readonly detail: string | undefined;
  readonly context: CallContext;
}

interface HoldingParts {
  readonly engine: Engine;
  readonly pauses: Pauses;
  /** The calls that wait for this conversation have changed. */
  readonly changed: (conversation: AgentConversation) => void;
  /** One ends without having run. */
  readonly dropped: (held: PausedCall, error: FairleadError, why: string) => void;
}

const longestPreview = 200;
export const serverEnded = 'the server was ended';

/** HoldQueue the calls of paused conversations, and runs them in order when they are resumed. */
export class Holding implements Disposable {
  readonly holds: HoldQueue;
  readonly #parts: HoldingParts;
  /** A digest alone must not let a short secret be guessed. */
  readonly #secret = randomBytes(32);
  readonly #stop = new AbortController();

  constructor(parts: HoldingParts) {
    this.#parts = parts;
    this.holds = new HoldQueue(parts.engine.clock, (held) => {
      this.#drop(held, holdExpired(held.conversation.id, held.id), 'after 30 min');
    });
  }

  /** Lets the call go on, answers it as it was answered before, or throws what its agent is told. */
  admit(track: CallTrack, admission: Admission): { readonly output: unknown } | undefined {
    const { conversation, access, caller, replay } = track.call;
    if (!conversation) return undefined;
    if (conversation.revoked) throw conversationRevoked(conversation.id);
    if (replay) {
      const fault = this.#faultOf(replay);
      if (fault) throw fault;
      return undefined;
    }
    const isPaused = this.#parts.pauses.isPaused(conversation);
    if (access === 'observe') {
      if (isPaused) throw heldRead(conversation.id);
      return undefined;
    }
    const identity = this.#identityOf(conversation, track.call.operation, admission);
    const answer = this.holds.answerFor(identity);
    if (answer) {
      track.isRepeat = true;
      if ('error' in answer) throw answer.error;
      caller.tell?.('This is the answer of the call that was held and has run once. It was not run again.');
      return answer;
    }
    const before = this.holds.find(identity);
    if (before) {
      track.isRepeat = true;
      throw isPaused ? heldCall(conversation.id, before.id, before.until) : waitsForOthers(conversation.id, before.id);
    }
    const waiting = this.holds.of(conversation);
    // What the caller may not do is refused by the gate now; a full queue is none of its concern.
    if ((!isPaused && waiting.length === 0) || !caller.may(access)) {
      this.holds.movedOn(conversation);
      return undefined;
    }
    const held = this.#hold(track, conversation, identity, admission);
    throw isPaused ? heldCall(conversation.id, held.id, held.until) : waitsForOthers(conversation.id, held.id);
  }

  /** Runs what waits and may run now. */
  resume(): void {
    const { pauses, engine } = this.#parts;
    const isFree = ({ conversation }: PausedCall): boolean => !pauses.isPaused(conversation);
    const before: PausedCall[] = [];
    for (const held of this.holds.all) {
      const isNext = before.every(
        (one) =>
          one.conversation !== held.conversation &&
          (one.terminal === undefined || one.terminal !== held.terminal || !(one.isRunning || isFree(one))),
      );
      before.push(held);
      if (held.isRunning || !isFree(held) || !isNext) continue;
      held.isRunning = true;
      engine.background(this.#replay(held));
    }
  }

  /** Those that run already go on. */
  drop(all: readonly PausedCall[], by: string): PausedCall[] {
    const dropped = all.filter(({ isRunning }) => !isRunning);
    for (const held of dropped) this.#drop(held, holdDropped(held.conversation.id, held.id), `by ${by}`);
    return dropped;
  }

  revoke(conversation: AgentConversation, by: string): PausedCall[] {
    const dropped = this.holds.of(conversation).filter(({ isRunning }) => !isRunning);
    for (const held of dropped) this.#drop(held, conversationRevoked(conversation.id), `revoked by ${by}`);
    return dropped;
  }

  /** What would happen if it ran now. */
  forecast(held: PausedCall): HoldForecast {
    const { engine } = this.#parts;
    const fault = this.#faultOf(held);
    if (fault) return { kind: 'fails', words: 'The terminal has ended; would fail.' };
    const { operation, op, input, commands, context } = held;
    const question = { operation, access: op.access, input, commands, caller: context.caller };
    const verdict = engine.gate.policy(question, this.#stop.signal);
    // A judge that takes its time is asked when the call runs.
    if (verdict instanceof Promise || verdict.allowed) return { kind: 'runs', words: 'Runs.' };
    return { kind: 'refused', words: verdict.error.message };
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    for (const held of this.holds.all) {
      if (!held.isRunning) this.#drop(held, holdDropped(held.conversation.id, held.id), serverEnded);
    }
    this.holds[Symbol.dispose]();
  }

  #hold(track: CallTrack, conversation: AgentConversation, identity: string, admission: Admission): PausedCall {
    const { engine, changed } = this.#parts;
    const { op, raw, input, commands, context } = admission;
    const { caller, terminalRef } = track.call;
    const isDefault = terminalRef === undefined && namesTerminals(op);
    const terminal = isDefault || terminalRef !== undefined ? engine.sessions.peek(terminalRef, caller) : undefined;
    const since = engine.clock.now();
    const held: PausedCall = {
      id: `h-${track.call.id}`,
      call: track.call.id,
      conversation,
      identity,
      op,
      operation: track.call.operation,
      raw,
      input,
      commands,
      // Nothing that it is told reaches its agent any more.
      context: { caller: { ...caller, tell: undefined, uses: undefined }, key: context.key },
      terminal,
      isDefault,
      preview: preview(engine.redact(this.#words(admission, terminal)), longestPreview),
      bytes: sizeOf(raw),
      since,
      until: since + holdMs,
      isRunning: false,
    };
    this.holds.add(held);
    track.hold(held);
    changed(conversation);
    return held;
  }

  /** What the person reads before deciding. Never what a password prompt would get. */
  #words({ raw, commands, detail }: Admission, terminal: Terminal | undefined): string {
    const words = commands.length > 0 ? commands.join('\n') : (detail ?? argumentsOf(raw));
    return terminal && typesUnseen(terminal) ? commandDetail(words, true) : words;
  }

  #identityOf({ id }: AgentConversation, operation: string, { raw, context: { key } }: Admission): string {
    const explicit = key === undefined || key.implied === true ? undefined : key.value;
    return createHmac('sha256', this.#secret)
      .update(canonicalJson([id, operation, raw, explicit]))
      .digest('base64');
  }

  /** The terminal that it was for is gone: it must not go into another. */
  #faultOf({ terminal, isDefault, context }: PausedCall): FairleadError | undefined {
    if (!terminal) return undefined;
    const { engine } = this.#parts;
    const isThere = !terminal.ended && engine.terminals.includes(terminal);
    const isSame = !isDefault || engine.sessions.peek(undefined, context.caller) === terminal;
    return isThere && isSame ? undefined : terminalOver(terminal.id);
  }

  async #replay(held: PausedCall): Promise<void> {
    const { engine, changed } = this.#parts;
    const { op, raw, context, conversation } = held;
    changed(conversation);
    let outcome: HoldOutcome;
    try {
      outcome = { output: await call(op, raw, { ...context, engine, signal: this.#stop.signal, replay: held }) };
    } catch (error) {
      outcome = { error: error as FairleadError };
    }
    this.holds.remove(held);
    this.holds.keep(held, outcome, false);
    changed(conversation);
    this.resume();
  }

  #drop(held: PausedCall, error: FairleadError, why: string): void {
    if (!this.holds.remove(held)) return;
    const { changed, dropped } = this.#parts;
    this.holds.keep(held, { error }, true);
    dropped(held, error, why);
    changed(held.conversation);
  }
}

/** Without a terminal in its arguments it means the default session. */
function namesTerminals({ input }: AnyOperation): boolean {
  const { shape } = input as { readonly shape?: object };
  return shape !== undefined && ('terminal' in shape || 'sessionId' in shape);
}
