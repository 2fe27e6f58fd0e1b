import type { CastFormat } from './cast/cast-writer.ts';

export type RecordingMode = 'always' | 'on-failure';

const stopReasons = [
  'explicit',
  'session_exit',
  'max_duration',
  'inactivity',
  'server_shutdown',
  'disk_full',
  'recovered',
] as const;
export type StopReason = (typeof stopReasons)[number];

/** More are not listed. */
export const mostCommands = 10_000;

export interface RecordedCommand {
  readonly command: string | null;
  readonly exitCode: number | null;
  /** Milliseconds of real time since the start of the recording. */
  readonly startMs: number;
  readonly endMs: number;
}

/** Facts known when a recording starts: kept beside the part file for `recover`. */
export interface RecordingStart {
  readonly recordingId: string;
  readonly sessionId: string;
  readonly mode: RecordingMode;
  readonly format: CastFormat;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  readonly cols: number;
  readonly rows: number;
  readonly title: string | null;
}

/** The `.meta.json` beside a cast. */
export interface RecordingMetadata extends RecordingStart {
  /** Of the shell; null when it did not exit. */
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly endTime: number;
  readonly bytesWritten: number;
  readonly stopReason: StopReason;
  readonly castDurationMs: number;
  readonly failed: boolean;
  readonly commands: readonly RecordedCommand[];
  readonly redactions: number;
}
