import type { Clock } from '../../lib/clock.ts';
import type { Audit, AuditEntry } from './audit/audit.ts';

type Entry = Omit<AuditEntry, 'seq'>;

/** Entries of the audit trail that stand for many calls: one for each key that a person types would drown everything else. */
export class AuditSpans {
  readonly #audit: Audit;
  readonly #clock: Clock;
  readonly #closing: AbortSignal;
  /** By connection, and by operation and terminal. */
  readonly #spans = new WeakMap<AbortSignal, Map<string, { characters: number }>>();

  constructor(audit: Audit, clock: Clock, closing: AbortSignal) {
    this.#audit = audit;
    this.#clock = clock;
    this.#closing = closing;
  }

  /** Written when the time is over, when the connection ends or when the engine does. */
  add(entry: Entry, spanMs: number, connection: AbortSignal): void {
    const spans = this.#spans.get(connection) ?? new Map<string, { characters: number }>();
    this.#spans.set(connection, spans);
    const key = `${entry.operation} ${entry.terminal}`;
    const open = spans.get(key);
    const { characters = 0 } = entry;
    if (open) {
      open.characters += characters;
      return;
    }
    const span = { characters };
    spans.set(key, span);
    const write = (): void => {
      if (!spans.delete(key)) return;
      limit[Symbol.dispose]();
      for (const end of ends) end.removeEventListener('abort', write);
      this.#audit.add({ ...entry, characters: span.characters });
    };
    const ends = [connection, this.#closing];
    const limit = this.#clock.after(spanMs, write);
    for (const end of ends) end.addEventListener('abort', write, { once: true });
    if (ends.some(({ aborted }) => aborted)) write();
  }
}
