import type { Caller } from '../call/call.ts';
import type { Clock } from '../../lib/clock.ts';
import { AgentConversation } from './conversation.ts';
import type { CallRow } from './shapes.ts';

/** Further clients push out those that were silent for the longest time. */
const most = 500;
/** Changes of one conversation are told together: a busy agent makes hundreds of calls in a second. */
const tellMs = 100;
/** So many terminals remember who typed into them. */
const mostTerminals = 1000;

/** Everything that called this instance, by conversation. */
export class Conversations implements Disposable {
  readonly #clock: Clock;
  readonly #tell: (conversation: AgentConversation) => void;
  /** The one that called last at the end. */
  readonly #all = new Map<string, AgentConversation>();
  readonly #typists = new Map<string, string>();
  readonly #changed = new Set<AgentConversation>();
  #timer: Disposable | undefined;

  constructor(clock: Clock, tell: (conversation: AgentConversation) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** The conversation of a call that has just come in. */
  meet(id: string, caller: Caller): AgentConversation {
    const known = this.#all.get(id);
    const conversation = known ?? new AgentConversation(id, caller, this.#clock);
    this.#all.delete(id);
    this.#all.set(id, conversation);
    if (!known) this.#makeRoom();
    conversation.meet(caller, () => this.changed(conversation));
    return conversation;
  }

  /** One about which a person decided something in another process. */
  restore(conversation: AgentConversation): void {
    this.#all.set(conversation.id, conversation);
  }

  get all(): AgentConversation[] {
    return [...this.#all.values()];
  }

  get(id: string): AgentConversation | undefined {
    return this.#all.get(id);
  }

  /** The one that called last first. */
  of(principal: string): AgentConversation[] {
    return [...this.#all.values()].filter((one) => one.principal === principal).reverse();
  }

  /** A client has ended its session. */
  leave(key: string): void {
    for (const conversation of this.#all.values()) {
      if (conversation.caller.client?.key !== key) continue;
      conversation.leave();
      this.changed(conversation);
    }
  }

  types(conversation: AgentConversation, terminalId: string): void {
    this.#typists.delete(terminalId);
    this.#typists.set(terminalId, conversation.id);
    const [oldest] = this.#typists.keys();
    if (this.#typists.size > mostTerminals && oldest !== undefined) this.#typists.delete(oldest);
  }

  typistOf(terminalId: string): AgentConversation | undefined {
    return this.#all.get(this.#typists.get(terminalId) ?? '');
  }

  /** The row of one of its calls is new, or has changed. */
  note(conversation: AgentConversation, { phase, op, at, terminal, bytes, code }: CallRow, isNew: boolean): void {
    const { counts } = conversation;
    if (isNew) {
      counts.calls += 1;
      conversation.last = { at, op };
    }
    if (terminal !== undefined && conversation.last?.at === at) conversation.last = { at, op, terminal };
    if (phase === 'denied' && code !== 'held') counts.denied += 1;
    if (phase === 'held') counts.held += 1;
    if (phase === 'failed') counts.failed += 1;
    if (phase === 'executed' || phase === 'replayed') conversation.bytesRead += bytes;
    this.changed(conversation);
  }

  /** Tells of it soon. */
  changed(conversation: AgentConversation): void {
    this.#changed.add(conversation);
    this.#timer ??= this.#clock.after(tellMs, () => this.tellNow());
  }

  tellNow(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const one of changed) this.#tell(one);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  /** A person's decision about one is never forgotten before those that need none. */
  #makeRoom(): void {
    if (this.#all.size <= most) return;
    const all = [...this.#all.values()];
    const isFree = ({ pause, revoked, active }: AgentConversation): boolean => !pause && !revoked && active === 0;
    const oldest = all.find((one) => isFree(one) && one.connected !== true) ?? all.find(isFree) ?? all[0];
    if (oldest) this.#all.delete(oldest.id);
  }
}
