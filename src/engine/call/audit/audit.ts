import type { ErrorCode } from '../../../contract/errors.ts';
import { Emitter } from '../../../lib/emitter.ts';
import type { Origin } from '../call.ts';
import type { Access } from '../operation.ts';

/** How far a call has come. */
export const callPhases = [
  'received',
  'pending',
  'held',
  'executed',
  'failed',
  'denied',
  'replayed',
  'dropped',
  'unknown',
] as const;
export type CallPhase = (typeof callPhases)[number];

/** Where a call stands in the output of its terminal, and in the recording of that. */
export interface CallPlace {
  /** The id of the terminal. */
  readonly terminal: string;
  /** Offsets of the output that came while it ran. */
  readonly from: number;
  readonly to: number;
  /** The command that it started. */
  readonly block?: number;
  readonly exit?: number;
  /** Seconds into the recording, as it plays. */
  readonly recording?: { readonly id: string; readonly t: number };
}

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
  /** `detail` is the beginning of the command lines that the policy judged. */
  readonly judged?: true;
  /** Length of what a person typed, if nothing else of it may be kept. */
  readonly characters?: number;
  /** Its row of the timeline. A call that was held has an entry for each phase. */
  readonly call?: string;
  /** The agent's; absent for what a person did. */
  readonly conversation?: string;
  readonly phase?: CallPhase;
  /** It had a shell run command lines. */
  readonly isCommand?: true;
  readonly place?: CallPlace;
  /** Size of the answer. */
  readonly bytes?: number;
  /** Who dropped a held call, or why it was dropped. */
  readonly ended?: string;
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
