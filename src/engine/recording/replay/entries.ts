import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FairleadError } from '../../../contract/errors.ts';
import type { Emitter } from '../../../lib/emitter.ts';
import { writerState } from '../../../system/process-identity.ts';
import { entryOf, type LibraryEntry, listRecordings, removeRecording } from '../library.ts';
import type { LogEntry } from '../log/entry.ts';
import type { RecordingMetadata } from '../metadata.ts';
import type { PeopleNote } from '../people.ts';

/** The raw logs of sessions: see LogIndex. */
export interface RawLogs {
  all(): Promise<LogEntry[]>;
  find?(id: string): LogEntry | undefined;
  /** Everything recorded so far is on the disk, and the facts are those of now. */
  current?(entry: LogEntry): Promise<LogEntry>;
  remove?(id: string): Promise<void>;
  /** The id of a terminal, when its recording has begun or ended. */
  readonly changed?: Pick<Emitter<string>, 'on'>;
}

type Told = ((id: string) => Pick<RecordingMetadata, 'commands' | 'people'> | undefined) | undefined;

/** A recording of either kind: an asciicast, or the raw log of a session. */
export interface ReplayEntry {
  readonly id: string;
  readonly kind: 'cast' | 'log';
  /** The file that is played; undefined when only the markdown of a log was kept. */
  readonly path: string | undefined;
  readonly terminal: string | undefined;
  readonly owner?: string | undefined;
  readonly title: string | undefined;
  /** Its name, its program, and what it was a terminal of. */
  readonly name: string | undefined;
  readonly program: string | undefined;
  readonly target: string | undefined;
  /** Who typed, as far as that is known. */
  readonly typists: readonly string[];
  /** Its writer died: the last second may be missing. */
  readonly isRecovered: boolean;
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
export async function listReplays(directory: string, logs: RawLogs | undefined, told?: Told): Promise<ReplayEntry[]> {
  const [casts, raw] = await Promise.all([listRecordings(directory), logs?.all() ?? []]);
  const all = [...casts.map((one) => fromCast(one, told)), ...(await Promise.all(raw.map(fromLog)))];
  return all.sort((a, b) => b.startTime - a.startTime);
}

/** One of them by its id, without reading the others. */
export async function findReplay(
  id: string,
  directory: string,
  logs: RawLogs | undefined,
  told?: Told,
): Promise<ReplayEntry | undefined> {
  const names = await readdir(directory).catch((): string[] => []);
  // The names of a finished cast and of a part file both hold the id, or are the id.
  const near = names.filter((name) => name.includes(id) && /\.cast(?:\.part)?$/.test(name));
  for (const name of near) {
    const entry = await entryOf(join(directory, name));
    if (entry?.id === id) return fromCast(entry, told);
  }
  const log =
    logs?.find?.(id) ?? (logs?.find ? undefined : (await logs?.all())?.find((one) => one.recording_id === id));
  return log && (await fromLog((await logs?.current?.(log)) ?? log));
}

/** Removes a recording with its files. */
export async function removeReplay(
  { id, state, kind }: ReplayEntry,
  directory: string,
  logs: RawLogs | undefined,
): Promise<void> {
  if (state === 'recording') {
    throw new FairleadError('conflict', `${id} is being recorded.`, { hint: 'Stop the recording first.' });
  }
  if (kind === 'cast') await removeRecording(directory, id);
  else await logs?.remove?.(id);
}

export function fromCast(entry: LibraryEntry, told?: Told): ReplayEntry {
  const { id, path, startTime, bytes, state, metadata } = entry;
  const { durationMs, castDurationMs, failed = false, masked = false, stopReason } = metadata;
  const { commands, people } = (state === 'recording' && told?.(id)) || metadata;
  const bad = commands?.filter(({ exitCode }) => exitCode !== null && exitCode !== 0).length ?? 0;
  return {
    id,
    kind: 'cast',
    path,
    terminal: metadata.sessionId || undefined,
    owner: metadata.principal,
    title: metadata.title ?? undefined,
    name: metadata.name,
    program: metadata.program,
    target: metadata.target,
    typists: typistsOf(people),
    isRecovered: stopReason === 'recovered' || state === 'unfinished',
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

/** More names are not listed. */
const mostTypists = 5;

const typistsOf = (people: readonly PeopleNote[] = []): string[] =>
  [...new Set(people.flatMap((note) => ('typed' in note ? [note.typed.by] : [])))].slice(0, mostTypists);

async function fromLog(entry: LogEntry): Promise<ReplayEntry> {
  const { unterm_session_id: id, started_at, ended_at, log_path, md_path, project_slug, writer } = entry;
  const { name, target, shell, typists = [], failed_count, exit_reason } = entry;
  const startTime = Date.parse(started_at);
  const durationMs = ended_at === null ? undefined : Math.max(0, Date.parse(ended_at) - startTime);
  const file = await stat(log_path ?? md_path).catch(() => undefined);
  const alive = writerState(writer) === 'alive';
  const state = ended_at !== null ? 'finished' : alive ? 'recording' : 'unfinished';
  return {
    id,
    kind: 'log',
    path: log_path ?? undefined,
    terminal: entry.terminal,
    owner: entry.owner,
    title: project_slug === '_orphan' ? undefined : project_slug,
    name,
    program: shell,
    target,
    typists,
    isRecovered: exit_reason === 'recovered' || state === 'unfinished',
    startTime,
    durationMs,
    playMs: durationMs,
    blocks: { n: entry.block_count, ...(failed_count !== undefined && { failed: failed_count }) },
    bytes: file?.size ?? 0,
    state,
    failed: false,
    masked: false,
    log: entry,
  };
}
