import type { SessionLogs } from './log/session-logs.ts';
import type { Recordings } from './recordings.ts';

/** What records terminals: as casts, and as logs of sessions. */
export interface Recorders {
  readonly recordings: Pick<Recordings, 'activeOf' | 'momentOf'>;
  readonly logs: Pick<SessionLogs, 'activeOf' | 'entryOf'> | undefined;
}

/** The recording of a terminal, of either kind. A cast comes before a log. */
export const recordingOf = (terminalId: string, { recordings, logs }: Recorders): string | undefined =>
  recordings.activeOf(terminalId) ?? recordings.activeOf(terminalId, 'cli') ?? logs?.activeOf(terminalId);

/** Where the recording of a terminal is now, in seconds as it plays. */
export function recordingMoment(
  terminalId: string,
  recorders: Recorders,
  now: number,
): { readonly id: string; readonly t: number } | undefined {
  const id = recordingOf(terminalId, recorders);
  if (id === undefined) return undefined;
  const started = recorders.logs?.entryOf(terminalId)?.started_at;
  const t = recorders.recordings.momentOf(id) ?? (started === undefined ? 0 : (now - Date.parse(started)) / 1000);
  return { id, t: Math.max(0, Math.round(t * 1000) / 1000) };
}
