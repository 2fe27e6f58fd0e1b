import { constants } from 'node:fs';
import { lstat, open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import type { RecordingMetadata, RecordingStart } from './metadata.ts';
import { isOwnFile } from '../../system/files/trusted-path.ts';
import { recordingFilesOf, nameFacts, type RecordingFiles, recordingFiles } from './names.ts';
import { type WriterIdentity, writerState } from '../../system/process-identity.ts';
import { removeFile } from '../../system/files/remove-file.ts';

export interface LibraryEntry {
  readonly id: string;
  /** The cast, or the part file of one that is not finished. */
  readonly path: string;
  readonly files: RecordingFiles;
  /** `recording`: its process lives. `unfinished`: its process is dead or out of sight; see `writer`. */
  readonly state: 'finished' | 'recording' | 'unfinished';
  readonly writer: 'alive' | 'dead' | 'unknown' | 'none';
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  readonly modified: number;
  /** Absent for casts from elsewhere; only the first facts for one that is not finished. */
  readonly metadata: Partial<RecordingMetadata>;
}

/** Recordings in a directory, newest first. A directory that does not exist holds none. */
export async function listRecordings(directory: string): Promise<LibraryEntry[]> {
  const names = await readdir(directory).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return [];
    throw new FairleadError('not_found', `Cannot read ${directory}: ${cause.message}`, { cause });
  });
  const entries = await Promise.all(names.map((name) => entryOf(join(directory, name))));
  return entries.filter((entry) => entry !== undefined).sort((a, b) => b.startTime - a.startTime);
}

/** By id, by the first characters of one, by file name, or by path. */
export async function findRecording(directory: string, wanted: string): Promise<LibraryEntry> {
  const entries = await listRecordings(directory);
  const name = basename(wanted).replace(/\.(?:cast|meta\.json)$/, '');
  const inDirectory = dirname(resolve(directory, wanted)) === resolve(directory);
  const exact = entries.find((entry) => entry.id === wanted || (inDirectory && entry.files.name === name));
  if (exact !== undefined) return exact;
  const close = wanted.length >= 4 ? entries.filter((entry) => entry.id.startsWith(wanted)) : [];
  if (close.length === 1) return close[0] as LibraryEntry;
  if (close.length > 1) {
    throw new FairleadError('invalid_input', `${close.length} recordings begin with "${wanted}".`, {
      hint: `Give more characters: ${close.map((entry) => entry.id).join(', ')}.`,
    });
  }
  const elsewhere = (await entryOf(resolve(wanted))) ?? (await foreignCast(resolve(wanted)));
  if (elsewhere !== undefined) return elsewhere;
  throw new FairleadError('not_found', `Recording not found: ${wanted}`, {
    hint: 'List them with `fairlead recordings list`.',
  });
}

/** Removes a recording with everything that belongs to it. One that is being made is refused. */
export async function removeRecording(directory: string, wanted: string): Promise<LibraryEntry> {
  const entry = await findRecording(directory, wanted);
  if (entry.state === 'recording') {
    throw new FairleadError('conflict', `${entry.id} is being recorded.`, { hint: 'Stop the recording first.' });
  }
  if (recordingFilesOf(entry.path) === undefined) {
    throw new FairleadError('invalid_input', `${wanted} is not a recording of Fairlead.`, {
      hint: 'Remove the file yourself.',
    });
  }
  const { cast, metadata, part, writer, place, keys, partKeys } = entry.files;
  await Promise.all([cast, metadata, part, writer, place, keys, partKeys].map((path) => removeFile(path)));
  return entry;
}

export async function entryOf(path: string): Promise<LibraryEntry | undefined> {
  const files = recordingFilesOf(path);
  if (files === undefined) return undefined;
  try {
    const found = await (files.finished ? stat(path) : lstat(path));
    // Must be a regular file of this user: a pipe would never end, and recovery writes to it.
    if (!(files.finished ? found.isFile() : isOwnFile(found))) return undefined;
    const { size, mtimeMs } = found;
    const known = await readJson<Partial<RecordingMetadata> & { readonly writer?: WriterIdentity }>(
      files.finished ? files.metadata : files.writer,
    );
    const { writer: identity, ...metadata } = known ?? {};
    const writer = identity === undefined ? 'none' : writerState(identity);
    const { id, startTime } = nameFacts(files.name);
    return {
      id,
      path,
      files,
      state: files.finished ? 'finished' : writer === 'alive' ? 'recording' : 'unfinished',
      writer,
      bytes: size,
      startTime: metadata.startTime ?? startTime ?? mtimeMs,
      modified: mtimeMs,
      metadata,
    };
  } catch (thrown) {
    // Gone between the listing and now: it was finished or removed.
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** A file with any other name that the caller says is a cast. It has no companion files. */
async function foreignCast(path: string): Promise<LibraryEntry | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return undefined;
  const { size: bytes, mtimeMs: modified } = found;
  const id = basename(path);
  const files = { ...recordingFiles(dirname(path), id), cast: path };
  return { id, path, files, state: 'finished', writer: 'none', bytes, startTime: modified, modified, metadata: {} };
}

/** Far more than facts need. */
const longestFacts = 1 << 20;
/** A pipe that has no writer would otherwise block a thread that all files share. Windows has no such pipes. */
const withoutWaiting = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

async function readJson<T extends Partial<RecordingStart>>(path: string): Promise<T | undefined> {
  try {
    await using file = await open(path, withoutWaiting);
    const found = await file.stat();
    if (!found.isFile() || found.size > longestFacts) return undefined;
    const value: unknown = JSON.parse(await file.readFile('utf8'));
    return typeof value === 'object' && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}
