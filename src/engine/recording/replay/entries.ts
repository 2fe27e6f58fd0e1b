import { stat } from 'node:fs/promises';
import { writerState } from '../../../system/process-identity.ts';
import { type LibraryEntry, listRecordings } from '../library.ts';
import type { LogEntry } from '../log/entry.ts';

/** The raw logs of sessions: see LogIndex. */
export interface RawLogs {
  all(): Promise<LogEntry[]>;
}

/** A recording of either kind: an asciicast, or the raw log of a session. */
export interface ReplayEntry {
  readonly id: string;
  readonly kind: 'cast' | 'log';
  /** The file that is played; undefined when only the markdown of a log was kept. */
  readonly path: string | undefined;
  readonly terminal: string | undefined;
  readonly owner?: string | undefined;
  readonly title: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  /** Real time; undefined until it has ended. */
  readonly durationMs: number | undefined;
  /** How long it plays. */
  readonly playMs: number | undefined;
  readonly blocks: { readonly n: number; readonly failed?: number } | undefined;
  readonly bytes: number;
  /** `unfinished`: the process that wrote it is gone. */
  readonly state: 'finished' | 'recording' | 'unfinished';
  readonly failed: boolean;
  /** Secrets are masked in the file itself. */
  readonly masked: boolean;
  readonly cast?: LibraryEntry;
  readonly log?: LogEntry;
}

/** Recordings of both kinds, newest first. */
export async function listReplays(directory: string, logs: RawLogs | undefined): Promise<ReplayEntry[]> {
  const [casts, raw] = await Promise.all([listRecordings(directory), logs?.all() ?? []]);
  const all = [...casts.map(fromCast), ...(await Promise.all(raw.map(fromLog)))];
  return all.sort((a, b) => b.startTime - a.startTime);
}

export function fromCast(entry: LibraryEntry): ReplayEntry {
  const { id, path, startTime, bytes, state, metadata } = entry;
  const { commands, durationMs, castDurationMs, failed = false, masked = false } = metadata;
  const bad = commands?.filter(({ exitCode }) => exitCode !== null && exitCode !== 0).length ?? 0;
  return {
    id,
    kind: 'cast',
    path,
    terminal: metadata.sessionId || undefined,
    owner: metadata.principal,
    title: metadata.title ?? undefined,
    startTime,
    durationMs,
    playMs: castDurationMs,
    blocks: commands && { n: commands.length, failed: bad },
    bytes,
    state,
    failed,
    masked,
    cast: entry,
  };
}

async function fromLog(entry: LogEntry): Promise<ReplayEntry> {
  const { unterm_session_id: id, started_at, ended_at, log_path, md_path, project_slug, writer } = entry;
  const startTime = Date.parse(started_at);
  const durationMs = ended_at === null ? undefined : Math.max(0, Date.parse(ended_at) - startTime);
  const file = await stat(log_path ?? md_path).catch(() => undefined);
  const alive = writerState(writer) === 'alive';
  return {
    id,
    kind: 'log',
    path: log_path ?? undefined,
    terminal: entry.terminal,
    owner: entry.owner,
    title: project_slug === '_orphan' ? undefined : project_slug,
    startTime,
    durationMs,
    playMs: durationMs,
    blocks: { n: entry.block_count },
    bytes: file?.size ?? 0,
    state: ended_at !== null ? 'finished' : alive ? 'recording' : 'unfinished',
    failed: false,
    masked: false,
    log: entry,
  };
}
