import type { ErrorCode } from '../../../contract/errors.ts';
import { Emitter } from '../../../lib/emitter.ts';
import type { Origin } from '../call.ts';
import type { Access } from '../operation.ts';

/** One call, as it ended. Of what was typed at most a redacted beginning: it may be a secret. */
export interface AuditEntry {
  readonly seq: number;
  readonly at: string;
  readonly operation: string;
  readonly access: Access;
  readonly caller: string;
  readonly origin: Origin;
  readonly peer?: string;
  readonly terminal: string | undefined;
  readonly allowed: boolean;
  readonly error: ErrorCode | undefined;
  readonly durationMs: number;
  /** What it was about, in a line: the beginning of a command, what changed. */
  readonly detail?: string | undefined;
  /** Length of what a person typed, where that is all that may be kept of it. */
  readonly characters?: number;
}

/** The last calls in memory; whoever keeps them for longer listens. */
export class Audit {
  static readonly kept = 5000;
  readonly added = new Emitter<AuditEntry>();
  readonly #entries: AuditEntry[] = [];
  #seq = 0;

  add(entry: Omit<AuditEntry, 'seq'>): void {
    const full = { ...entry, seq: ++this.#seq };
    this.#entries.push(full);
    // Many at a time: taking out the first of thousands moves all the others.
    if (this.#entries.length >= 2 * Audit.kept) this.#entries.splice(0, this.#entries.length - Audit.kept);
    this.added.emit(full);
  }

  entries(since = 0): readonly AuditEntry[] {
    return this.#entries.slice(-Audit.kept).filter((entry) => entry.seq > since);
  }
}
