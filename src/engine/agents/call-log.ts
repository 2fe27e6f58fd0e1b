import { Emitter } from '../../lib/emitter.ts';
import type { CallRow } from './shapes.ts';

export const callKinds = ['all', 'commands', 'decisions', 'failed'] as const;

/** Which rows a reader wants. */
export interface CallFilter {
  readonly conversation?: string | undefined;
  readonly terminal?: string | undefined;
  readonly text?: string | undefined;
  readonly kind?: (typeof callKinds)[number] | undefined;
}

/** The newest calls of this process, reads too. Older ones are in the audit trail. */
export class CallLog {
  static readonly kept = 4000;
  /** A row that is new, or the new state of one. */
  readonly changed = new Emitter<CallRow>();
  /** In the order in which they were added. */
  readonly #rows = new Map<string, CallRow>();

  put(row: CallRow): void {
    this.#rows.set(row.id, row);
    if (this.#rows.size > CallLog.kept) {
      const [oldest] = this.#rows.keys();
      if (oldest !== undefined) this.#rows.delete(oldest);
    }
    this.changed.emit(row);
  }

  get(id: string): CallRow | undefined {
    return this.#rows.get(id);
  }

  /** The newest first. */
  rows(): CallRow[] {
    return [...this.#rows.values()].toSorted((one, other) => byId(other, one));
  }
}

export const byId = (one: CallRow, other: CallRow): number => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);

export function fitsFilter(row: CallRow, { conversation, terminal, text, kind = 'all' }: CallFilter): boolean {
  if (conversation !== undefined && row.conversation !== conversation) return false;
  if (terminal !== undefined && row.terminal !== terminal) return false;
  if (kind === 'commands' && !row.isCommand) return false;
  if (kind === 'decisions' && !isDecision(row)) return false;
  if (kind === 'failed' && !hasFailed(row)) return false;
  if (text === undefined || text === '') return true;
  const wanted = text.toLowerCase();
  return [row.op, row.preview, row.who.name].some((part) => part.toLowerCase().includes(wanted));
}

/** What a person did, and what became of calls because of a person or a rule. */
const isDecision = ({ who, phase }: CallRow): boolean =>
  who.kind === 'person' || ['pending', 'held', 'denied', 'replayed', 'dropped'].includes(phase);

const hasFailed = ({ phase, exit }: CallRow): boolean =>
  phase === 'failed' || phase === 'unknown' || (exit !== undefined && exit !== 0);
