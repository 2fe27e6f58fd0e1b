import { Emitter } from '../../lib/emitter.ts';
import type { AgentConversation, OrderedMark } from './conversation.ts';
import type { PauseMark } from './shapes.ts';

/**
 * Who is paused. A conversation is while it has a pause of its own, or while the pause of everything came after its last resumption;
 * so those that come later are, too.
 */
export class Pauses {
  /** After each change. */
  readonly changed = new Emitter<void>();
  #all: OrderedMark | undefined;
  #order = 0;

  /** As another process left it. */
  restore(order: number, all: OrderedMark | undefined): void {
    this.#order = order;
    this.#all = all;
  }

  /** The pause of everything. */
  get all(): OrderedMark | undefined {
    return this.#all;
  }

  get order(): number {
    return this.#order;
  }

  markOf({ pause, resumed }: AgentConversation): (PauseMark & { readonly all: boolean }) | undefined {
    if (pause) return { by: pause.by, at: pause.at, all: false };
    if (!this.#all || this.#all.order < resumed) return undefined;
    return { by: this.#all.by, at: this.#all.at, all: true };
  }

  isPaused(conversation: AgentConversation): boolean {
    return this.markOf(conversation) !== undefined;
  }

  /** Everything; again, where some were resumed since. */
  pauseAll(mark: PauseMark, known: readonly AgentConversation[]): void {
    if (this.#all && known.every((one) => this.isPaused(one))) return;
    this.#all = { ...mark, order: ++this.#order };
    this.changed.emit();
  }

  pause(conversations: readonly AgentConversation[], mark: PauseMark): void {
    for (const one of conversations) one.pause ??= { ...mark, order: ++this.#order };
    this.changed.emit();
  }

  /** Pauses of their own stay. */
  resumeAll(): void {
    this.#all = undefined;
    this.#order += 1;
    this.changed.emit();
  }

  resume(conversations: readonly AgentConversation[]): void {
    for (const one of conversations) {
      one.pause = undefined;
      one.resumed = ++this.#order;
    }
    this.changed.emit();
  }
}
