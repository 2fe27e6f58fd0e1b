import type { AuditEntry, CallPhase } from '../call/audit/audit.ts';
import type { AuditTrail } from '../call/audit/trail.ts';
import { agentName, beginOf, callId } from './identity.ts';
import { byId, type CallFilter, fitsFilter } from './call-log.ts';
import { serverEnded } from './holding.ts';
import type { CallRow } from './shapes.ts';

export interface CallPage {
  /** Rows that began before the one with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
  readonly filter: CallFilter;
}

/** A row of the timeline from the audit trail. */
export function auditedRow(entry: AuditEntry, id = idOf(entry)): CallRow {
  const { conversation, operation, access, caller, origin, terminal, durationMs, detail, error, ended } = entry;
  const { exit, ...place } = entry.place ?? {};
  // Entries of before there were rows say it by the name.
  const isPerson = conversation === undefined && (entry.call !== undefined || origin === 'cli' || caller === 'person');
  return {
    id,
    at: beginOf(id),
    ...(conversation === undefined ? {} : { conversation }),
    who: { kind: isPerson ? 'person' : 'agent', name: agentName(caller) },
    op: operation,
    access,
    isCommand: entry.isCommand === true,
    phase: entry.phase ?? phaseOf(entry),
    preview: detail ?? (entry.characters === undefined ? '' : `${entry.characters} characters`),
    bytes: entry.bytes ?? 0,
    ms: durationMs,
    ...(terminal === undefined ? {} : { terminal }),
    ...place,
    ...(exit === undefined ? {} : { exit }),
    ...(error === undefined ? {} : { code: error }),
    ...(ended === undefined ? {} : { ended }),
  };
}

function idOf({ call, at, durationMs, seq }: AuditEntry): string {
  return call ?? callId(Date.parse(at) - durationMs, seq);
}

const phaseOf = ({ allowed, error }: AuditEntry): CallPhase =>
  error === undefined ? 'executed' : allowed ? 'failed' : 'denied';

/** A held call without an end is over when it could not have waited any longer: its server was killed. */
const longestHoldMs = 30 * 60_000;

/** The newest of the wanted rows, from this process's memory and from the trail; the newest first. */
export async function callPage(
  { before, limit, filter }: CallPage,
  remembered: readonly CallRow[],
  trail: Pick<AuditTrail, 'backwards'> | undefined,
  now: number,
  signal: AbortSignal,
): Promise<{ readonly calls: CallRow[]; readonly more: boolean }> {
  const isBefore = (id: string): boolean => before === undefined || id < before;
  const found = new Map<string, CallRow>();
  const known = new Set(remembered.map(({ id }) => id));
  for (const row of remembered) if (isBefore(row.id) && fitsFilter(row, filter)) found.set(row.id, row);
  // One more than asked for, to know whether there is more.
  const enough = (): string | undefined => [...found.keys()].toSorted().at(-(limit + 1));
  let last = found.size > limit ? enough() : undefined;
  const until = before === undefined ? undefined : beginOf(before) + longestHoldMs + longestCallMs;
  for await (const entry of trail?.backwards(until, signal) ?? []) {
    // Entries stand in the order in which calls ended: none that is still to come began later than this one ended.
    if (last !== undefined && Date.parse(entry.at) < beginOf(last)) break;
    const id = idOf(entry);
    // Of several entries of a call the newest counts.
    if (known.has(id) || !isBefore(id)) continue;
    known.add(id);
    const row = settled(auditedRow(entry, id), now);
    if (!fitsFilter(row, filter)) continue;
    found.set(id, row);
    if (found.size > limit) last = enough();
  }
  const rows = [...found.values()].toSorted((one, other) => byId(other, one));
  return { calls: rows.slice(0, limit), more: rows.length > limit };
}

/** A call may wait for a day at most. */
const longestCallMs = 86_400_000;

function settled(row: CallRow, now: number): CallRow {
  const isOver = row.phase === 'held' && now - row.at > longestHoldMs;
  return isOver ? { ...row, phase: 'dropped', ended: serverEnded } : row;
}
