import type { SessionLogs } from './log/session-logs.ts';
import type { Recordings } from './recordings.ts';

/** What records terminals: as casts, and as logs of sessions. */
export interface Recorders {
  readonly recordings: Pick<Recordings, 'activeOf'>;
  readonly logs: Pick<SessionLogs, 'activeOf'> | undefined;
}

/** The recording of a terminal, of either kind. A cast comes before a log. */
export const recordingOf = (terminalId: string, { recordings, logs }: Recorders): string | undefined =>
  recordings.activeOf(terminalId) ?? recordings.activeOf(terminalId, 'cli') ?? logs?.activeOf(terminalId);
