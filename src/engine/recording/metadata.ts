import type { WriterIdentity } from '../../system/process-identity.ts';
import type { CastFormat } from './cast/cast-writer.ts';
import type { PeopleNote } from './people.ts';

export type RecordingMode = 'always' | 'on-failure';

/** Requested recordings and automatic ones run independently. */
export type RecordingOwner = 'tool' | 'cli';

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
  /** Whose terminal it was; absent: every caller's. */
  readonly principal?: string | undefined;
  /** What it was a terminal of, its name, and the program in it. */
  readonly target?: string | undefined;
  readonly name?: string | undefined;
  readonly program?: string | undefined;
}

/** The writer's file beside a part file: who writes it, and what another process needs to go on with it. */
export interface WriterFacts extends RecordingStart {
  readonly writer: WriterIdentity;
  readonly owner: RecordingOwner;
  /** Terminals of this instance outlive its server; absent when they end with the writer. */
  readonly instance?: string | undefined;
  readonly options: {
    readonly idleTimeLimit: number;
    readonly maxDuration: number;
    readonly inactivityTimeout: number;
    readonly input: boolean;
    readonly markers: boolean;
    readonly redact: boolean;
    readonly term: string;
  };
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
  /** Secrets were masked before they were written. */
  readonly masked?: boolean;
  /** Who typed, and when the terminal waited for a person. */
  readonly people?: readonly PeopleNote[];
}

/** Those facts of the terminal that are known. */
export const factsOfTerminal = ({ target, name, program }: Partial<RecordingStart>): Partial<RecordingStart> => ({
  ...(target !== undefined && { target }),
  ...(name !== undefined && { name }),
  ...(program !== undefined && { program }),
});
