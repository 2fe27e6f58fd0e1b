import { randomUUID } from 'node:crypto';
import type { CallContext } from '../call/call.ts';
import { type AnyOperation, isForPerson, operationId } from '../call/operation.ts';
import type { AuditEntry } from '../call/audit/audit.ts';
import type { Engine } from '../engine.ts';
import { CallLog } from './call-log.ts';
import { CallTrack } from './call-track.ts';
import type { AgentConversation } from './conversation.ts';
import { Conversations } from './conversations.ts';
import { callId, conversationId } from './identity.ts';
import { auditedRow } from './older-calls.ts';
import type { CallRow, ConversationStatus, PauseStatus } from './shapes.ts';

/** The agents of an engine: who they are, what they called, whether a person has paused them. */
export class Agents implements Disposable {
  readonly calls = new CallLog();
  readonly conversations: Conversations;
  readonly #engine: Engine;
  /** Tells this process from others. */
  readonly #run = randomUUID();
  #count = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.conversations = new Conversations(engine.clock, (conversation) =>
      engine.events.emit({
        kind: 'conversation',
        conversation: this.statusOf(conversation),
        owner: conversation.principal,
      }),
    );
    engine.audit.added.on((entry) => this.#audited(entry));
  }

  /** A call comes in: gives it a row of the timeline, and its agent a conversation. */
  track(op: AnyOperation, raw: unknown, { caller }: CallContext): CallTrack {
    const isPerson = caller.origin === 'cli' || caller.isPerson === true || isForPerson(op);
    const conversation = isPerson ? undefined : this.conversations.meet(conversationId(caller, this.#run), caller);
    const isShown = op.auditSpanMs === undefined && (!isPerson || op.access !== 'observe');
    return new CallTrack(
      {
        id: this.#newId(),
        operation: operationId(op),
        access: op.access,
        isCommand: op.commands !== undefined,
        raw,
        caller,
        conversation,
        isReplay: false,
        isShown,
      },
      this.#engine,
      (row) => this.#put(row, conversation),
    );
  }

  /** The conversations of a principal, the newest first. */
  list({ principal }: { readonly principal: string }): ConversationStatus[] {
    return this.conversations.of(principal).map((one) => this.statusOf(one));
  }

  /** Everything is paused; undefined while it is not. */
  pauseStatus(_whose: { readonly principal: string }): PauseStatus | undefined {
    return undefined;
  }

  /** The conversation that typed last into a terminal. */
  typistOf(terminalId: string): AgentConversation | undefined {
    return this.conversations.typistOf(terminalId);
  }

  statusOf(conversation: AgentConversation): ConversationStatus {
    const { id, agent, caller, state, since, connected, counts, bytesRead, last, revoked } = conversation;
    return {
      id,
      agent,
      origin: caller.origin,
      ...(caller.peer === undefined ? {} : { address: caller.peer }),
      state,
      ...(revoked && { revoked }),
      since,
      ...(connected === undefined ? {} : { connected }),
      counts: { ...counts },
      bytesRead,
      ...(last && { last }),
      held: [],
    };
  }

  /** The client will not call again. */
  clientGone(key: string): void {
    this.conversations.leave(key);
  }

  [Symbol.dispose](): void {
    this.conversations[Symbol.dispose]();
  }

  #put(row: CallRow, conversation: AgentConversation | undefined): void {
    const isNew = this.calls.get(row.id) === undefined;
    this.calls.put(row);
    if (conversation) this.conversations.note(conversation, row, isNew);
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
