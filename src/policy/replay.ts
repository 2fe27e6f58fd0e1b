import type { AuditEntry } from '../engine/call/audit/audit.ts';
import { judge, type Policy, type PolicyVerdict } from './policy.ts';

interface ReplayedCall extends Pick<AuditEntry, 'at' | 'operation' | 'caller'> {
  readonly command: string;
  /** The trail holds only its beginning, and that is what was judged. */
  readonly isCut: boolean;
  readonly reason: string;
  readonly pattern?: string;
}

interface Replay {
  /** Calls whose command the trail holds. */
  readonly calls: number;
  /** Of them, those that the trail holds only the beginning of. */
  readonly cut: number;
  /** Ran, and would be refused. */
  readonly refused: ReplayedCall[];
  /** Were refused, and would run. */
  readonly freed: ReplayedCall[];
}

/** What a policy would have made of calls of the past, newest first. */
export function replayPolicy(policy: Policy, entries: readonly AuditEntry[]): Replay {
  const calls = entries.filter(({ judged, detail }) => judged === true && detail !== undefined);
  const refused: ReplayedCall[] = [];
  const freed: ReplayedCall[] = [];
  let cut = 0;
  for (const { at, operation, caller, allowed, detail = '' } of calls) {
    const { command, isCut } = written(detail);
    if (isCut) cut += 1;
    const verdict = judge(policy, command.replaceAll(/<redacted:[0-9a-f]{8}>/g, 'redacted'));
    if (verdict.allowed === allowed) continue;
    (allowed ? refused : freed).push({ at, operation, caller, command, isCut, ...why(verdict) });
  }
  return { calls: calls.length, cut, refused, freed };
}

const why = ({ reason, pattern }: PolicyVerdict): Pick<ReplayedCall, 'reason' | 'pattern'> => ({
  reason,
  ...(pattern !== undefined && { pattern }),
});

/** The trail keeps the beginning of a command as a JSON string does. */
function written(detail: string): { readonly command: string; readonly isCut: boolean } {
  const isCut = detail.endsWith('…');
  // An escape that was cut in two is left out.
  const text = isCut ? detail.slice(0, -1).replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, '') : detail;
  try {
    return { command: JSON.parse(`"${text}"`) as string, isCut };
  } catch {
    // It shows a character that JSON has no escape for; the rest of it is readable as it is.
    return { command: text, isCut };
  }
}
