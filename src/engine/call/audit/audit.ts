import type { ErrorCode } from '../../../contract/errors.ts';
import { Emitter } from '../../../lib/emitter.ts';
import type { Origin } from '../call.ts';
import type { Access } from '../operation.ts';

/** One finished call. Typed text may be a secret: at most its redacted beginning is kept. */
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
  /** Length of what a person typed, if nothing else of it may be kept. */
  readonly characters?: number;
}

/** The last calls in memory; the trail on disk listens. */
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
