import { randomUUID } from 'node:crypto';
import { FairleadError } from '../../contract/errors.ts';
import { deferred } from '../../lib/deferred.ts';
import { onAbort } from '../../system/on-abort.ts';
import type { AuditEntry } from '../call/audit/audit.ts';
import { type Caller, type CallContext, terminalRefOf } from '../call/call.ts';
import { type AnyOperation, type AnyStream, isForPerson, operationId } from '../call/operation.ts';
import type { Engine } from '../engine.ts';
import { CallLog } from './call-log.ts';
import { CallTrack } from './call-track.ts';
import type { AgentConversation } from './conversation.ts';
import { Conversations } from './conversations.ts';
import { conversationRevoked, heldRead, holdExpired } from './hold-errors.ts';
import { type Admission, Holding } from './holding.ts';
import { type PausedCall, holdMs } from './hold-queue.ts';
import { callId, conversationId } from './identity.ts';
import { auditedRow } from './older-calls.ts';
import { Pauses } from './pauses.ts';
import { dropEntry, SavedDecisions } from './saved-decisions.ts';
import { PauseFile } from './saved-pause.ts';
import { runningCommands } from './running-commands.ts';
import type { CallRow, ConversationStatus, PauseMark, PauseStatus } from './shapes.ts';

interface Whose {
  readonly principal: string;
}

/** Changes of the pause are told together. */
const tellMs = 100;

/** The agents of an engine: who they are, what they called, whether a person has paused them. */
export class Agents implements Disposable {
  readonly calls = new CallLog();
  readonly conversations: Conversations;
  readonly pauses = new Pauses();
  readonly holding: Holding;
  readonly #engine: Engine;
  /** Tells this process from others. */
  readonly #run = randomUUID();
  #decisions: SavedDecisions | undefined;
  #count = 0;
  #telling: Disposable | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.conversations = new Conversations(engine.clock, (one) => {
      engine.events.emit({ kind: 'conversation', conversation: this.statusOf(one), owner: one.principal });
    });
    this.holding = new Holding({
      engine,
      pauses: this.pauses,
      changed: (conversation) => {
        this.conversations.changed(conversation);
        this.#tellPause();
        this.#decisions?.save();
      },
      dropped: (held, error, why) => this.#dropped(held, error, why),
    });
    this.pauses.changed.on(() => {
      this.#decisions?.save();
      this.#pauseChanged();
    });
    engine.audit.added.on((entry) => this.#audited(entry));
    engine.events.on((event) => {
      if (event.kind !== 'state' && event.kind !== 'closed') return;
      if (this.pauses.all) this.#tellPause();
      // What would become of a call that is held for it.
      for (const { terminal, conversation } of this.holding.holds.all) {
        if (terminal === event.terminal) this.conversations.changed(conversation);
      }
    });
  }

  /** From here on the next process finds in this file what a person decided; what another one left there counts now. */
  keepIn(file: string): void {
    this.#decisions = new SavedDecisions(
      new PauseFile(file, (message) => this.#engine.log?.(message)),
      this,
      this.#engine,
    );
    this.#decisions.restore();
  }

  /** A call comes in: gives it a row of the timeline, and its agent a conversation. */
  track(op: AnyOperation, raw: unknown, { caller, replay }: CallContext): CallTrack {
    const conversation = replay?.conversation ?? this.#meet(op, caller);
    const isShown = op.auditSpanMs === undefined && (conversation !== undefined || op.access !== 'observe');
    return new CallTrack(
      {
        id: replay?.call ?? this.#newId(),
        operation: operationId(op),
        access: op.access,
        isCommand: op.commands !== undefined,
        raw,
        caller,
        conversation,
        replay,
        terminalRef: terminalRefOf(raw),
        isShown,
      },
      this.#engine,
      (row) => this.#put(row, conversation),
    );
  }

  /** Lets a call go on, gives it the answer that it had before, or throws what its agent is told. */
  admit(track: CallTrack, admission: Admission): { readonly output: unknown } | undefined {
    return this.holding.admit(track, admission);
  }

  /** The same for a stream, which is a read. */
  admitStream(op: AnyStream, caller: Caller): void {
    const conversation = this.#meet(op, caller);
    if (conversation?.revoked) throw conversationRevoked(conversation.id);
    if (conversation && this.pauses.isPaused(conversation)) throw heldRead(conversation.id);
  }

  /** Resolves when the next step of a call may be done; rejects when its conversation was ended, or is paused for too long. */
  async mayGoOn(conversation: AgentConversation | undefined, signal: AbortSignal): Promise<void> {
    if (conversation?.revoked) throw conversationRevoked(conversation.id);
    if (!conversation || !this.pauses.isPaused(conversation)) return;
    let isLate = false;
    using _limit = this.#engine.clock.after(holdMs, () => {
      isLate = true;
      this.pauses.changed.emit();
    });
    while (this.pauses.isPaused(conversation) && !conversation.revoked) {
      signal.throwIfAborted();
      if (isLate) throw holdExpired(conversation.id, '');
      const changed = deferred();
      using _changed = this.pauses.changed.on(() => changed.resolve());
      using _abort = onAbort(signal, () => changed.resolve());
      await changed.promise;
    }
    if (conversation.revoked) throw conversationRevoked(conversation.id);
  }

  /** The conversations of a principal, the one that called last first. */
  list({ principal }: Whose): ConversationStatus[] {
    return this.conversations.of(principal).map((one) => this.statusOf(one));
  }

  /** Throws when there is none. */
  withId(id: string, { principal }: Whose): AgentConversation {
    const found = this.conversations.get(id);
    if (found?.principal === principal) return found;
    throw new FairleadError('not_found', `There is no conversation ${id.slice(0, 64)}.`, {
      hint: 'agents.list shows them.',
    });
  }

  /** Everything is paused; undefined while it is not. */
  pauseStatus(whose: Whose): PauseStatus | undefined {
    const { all } = this.pauses;
    if (!all) return undefined;
    const held = this.holding.holds.all.filter(({ conversation }) => conversation.principal === whose.principal);
    return { by: all.by, at: all.at, held: held.length, running: runningCommands(this.#engine, whose).length };
  }

  /** Since when and by whom the conversation of a terminal is paused. */
  pauseOf(terminalId: string): PauseMark | undefined {
    const typist = this.typistOf(terminalId);
    const mark = typist && this.pauses.markOf(typist);
    return mark && { by: mark.by, at: mark.at };
  }

  /** The conversation that typed last into a terminal. */
  typistOf(terminalId: string): AgentConversation | undefined {
    return this.conversations.typistOf(terminalId);
  }

  statusOf(conversation: AgentConversation): ConversationStatus {
    const { id, agent, caller, state, since, connected, counts, bytesRead, last, revoked } = conversation;
    const pause = this.pauses.markOf(conversation);
    return {
      id,
      agent,
      origin: caller.origin,
      ...(caller.peer === undefined ? {} : { address: caller.peer }),
      state: pause && state === 'approved' ? 'paused' : state,
      ...(pause && { pause }),
      ...(revoked && { revoked }),
      since,
      ...(connected === undefined ? {} : { connected }),
      counts: { ...counts },
      bytesRead,
      ...(last && { last }),
      held: this.holding.holds.of(conversation).map((held) => ({
        id: held.id,
        call: held.call,
        op: held.operation,
        preview: held.preview,
        ...(held.terminal && { terminal: held.terminal.id }),
        since: held.since,
        until: held.until,
        isRunning: held.isRunning,
        would: this.holding.forecast(held),
      })),
    };
  }

  /** A person ends it: nothing runs for it until a person approves it again. */
  revoke(conversation: AgentConversation, by: string): readonly PausedCall[] {
    conversation.revoked = { by, at: this.#engine.clock.now() };
    const dropped = this.holding.revoke(conversation, by);
    this.pauses.changed.emit();
    this.conversations.changed(conversation);
    return dropped;
  }

  approve(conversation: AgentConversation): void {
    conversation.revoked = undefined;
    this.pauses.changed.emit();
    this.conversations.changed(conversation);
  }

  /** The client will not call again. */
  clientGone(key: string): void {
    this.conversations.leave(key);
  }

  [Symbol.dispose](): void {
    this.holding[Symbol.dispose]();
    this.conversations[Symbol.dispose]();
    this.#telling?.[Symbol.dispose]();
  }

  /** Undefined for a person. */
  #meet(op: AnyOperation | AnyStream, caller: Caller): AgentConversation | undefined {
    const isPerson = caller.origin === 'cli' || caller.isPerson === true || isForPerson(op);
    return isPerson ? undefined : this.conversations.meet(conversationId(caller, this.#run), caller);
  }

  #pauseChanged(): void {
    const engine = this.#engine;
    for (const one of this.conversations.all) this.conversations.changed(one);
    for (const terminal of engine.terminals) {
      if (this.typistOf(terminal.id)) engine.events.emit({ kind: 'state', terminal });
    }
    this.conversations.tellNow();
    engine.events.emit({ kind: 'pause' });
  }

  #tellPause(): void {
    if (!this.pauses.all) return;
    this.#telling ??= this.#engine.clock.after(tellMs, () => {
      this.#telling = undefined;
      this.#engine.events.emit({ kind: 'pause' });
    });
  }

  #put(row: CallRow, conversation: AgentConversation | undefined): void {
    const isNew = this.calls.get(row.id) === undefined;
    this.calls.put(row);
    if (conversation) this.conversations.note(conversation, row, isNew);
  }

  #dropped(held: PausedCall, error: FairleadError, ended: string): void {
    const { call, conversation, op, operation, preview, since, terminal, context } = held;
    const now = this.#engine.clock.now();
    const { until: _until, ...row } = this.calls.get(call) ?? {};
    if ('id' in row) this.#put({ ...row, phase: 'dropped', code: error.code, ended, ms: now - since }, conversation);
    this.#engine.audit.add({
      ...dropEntry(now, since),
      operation,
      access: op.access,
      caller: conversation.agent,
      origin: context.caller.origin,
      terminal: terminal?.id,
      detail: preview,
      call,
      conversation: conversation.id,
      ended,
    });
  }

  /** What comes into the trail by other ways than a call: keys that a person typed, failed logins. */
  #audited(entry: AuditEntry): void {
    if (entry.call !== undefined || (entry.access === 'observe' && entry.allowed)) return;
    this.calls.put(auditedRow(entry, this.#newId()));
  }

  #newId(): string {
    return callId(this.#engine.clock.now(), this.#count++);
  }
}
