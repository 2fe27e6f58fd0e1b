import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../system/incident.ts';
import type { Redactor } from '../redaction/redactor.ts';
import type { RecordingOwner, RecordingStart, StopReason } from './metadata.ts';
import type { RecordingFiles } from './names.ts';
import type { OpenPart } from './part-file.ts';

export interface RecorderSettings extends RecordingStart {
  readonly files: RecordingFiles;
  /** Seconds; 0 keeps real time, or sets no limit. */
  readonly idleTimeLimit: number;
  readonly maxDuration: number;
  readonly inactivityTimeout: number;
  readonly input: boolean;
  readonly markers: boolean;
  readonly snapshot: boolean;
  readonly term: string;
  /** Masks what is written. */
  readonly redact: boolean;
  readonly owner: RecordingOwner;
  readonly instance: string | undefined;
}

/** Dependencies, replaceable in tests. */
export interface RecorderParts {
  readonly clock: Clock;
  readonly open?: OpenPart;
  readonly freeBytes?: (directory: string) => Promise<number>;
  readonly limits?: Partial<RecorderLimits>;
  /** False makes none while recording: for comparing. */
  readonly keyframes?: boolean;
  /** Masks keyframes, and what is written where that is asked for. */
  readonly redactor: Redactor;
  /** Takes reports of our own faults. */
  readonly log?: Log | undefined;
}

export interface RecorderLimits {
  readonly castBytes: number;
  readonly freeBytes: number;
  /** Limit of bytes waiting for the disk: beyond it the recording ends. */
  readonly waitingBytes: number;
}

/** The answer to a stop. */
export interface RecordingResult {
  readonly recordingId: string;
  /** '' when the cast was not kept. */
  readonly path: string;
  readonly durationMs: number;
  readonly bytesWritten: number;
  readonly saved: boolean;
  readonly mode: RecordingStart['mode'];
  readonly stopReason: StopReason;
  readonly exitCode: number | null;
  readonly sessionId: string;
  /** Why it was not kept. */
  readonly reason?: string;
}

export const defaultLimits: RecorderLimits = { castBytes: 200e6, freeBytes: 200e6, waitingBytes: 16 << 20 };
