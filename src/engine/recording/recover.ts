import { constants } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { CastCommands } from './cast/cast-commands.ts';
import { readCast } from './cast/cast-reader.ts';
import { writeWhole } from './directory.ts';
import { discard, nameKeys } from './keep.ts';
import { type LibraryEntry, listRecordings } from './library.ts';
import { factsOfTerminal, type RecordingMetadata } from './metadata.ts';
import { removeFile } from '../../system/files/remove-file.ts';

export interface Recovered {
  readonly id: string;
  /** The finished cast; '' when there was nothing to keep. */
  readonly path: string;
  readonly bytes: number;
  /** Bytes of a broken last line that were dropped. */
  readonly cut: number;
  /** Why it was left alone. */
  readonly skipped?: string;
}

interface RecoverOptions {
  /** Also part files whose writer cannot be seen from here. Never those whose writer lives. */
  readonly force?: boolean;
}

/** Closes the part files that dead processes left behind: each becomes a cast that ends at its last whole line. */
export async function recoverRecordings(
  directory: string,
  { force = false }: RecoverOptions = {},
): Promise<Recovered[]> {
  const results: Recovered[] = [];
  for (const entry of await listRecordings(directory)) {
    if (entry.state !== 'unfinished') continue;
    const doubtful = entry.writer !== 'dead' && !force;
    const why = 'It cannot be seen whether its writer still lives; use --force when it does not.';
    if (doubtful) results.push({ id: entry.id, path: entry.path, bytes: entry.bytes, cut: 0, skipped: why });
    else results.push(await recoverEntry(entry));
  }
  return results;
}

/** Closes one part file at its last whole line. */
export async function recoverEntry(entry: LibraryEntry): Promise<Recovered> {
  const { files, id } = entry;
  try {
    const whole = await measureCast(entry.path);
    await cutAt(entry.path, whole.bytes);
    const { bytes: bytesWritten, ...found } = whole;
    const metadata: RecordingMetadata = { ...describe(entry), bytesWritten, ...found };
    await removeFile(`${files.writer}.tmp`);
    await writeWhole(files.metadata, `${files.writer}.tmp`, `${JSON.stringify(metadata, null, 2)}\n`);
    await rename(files.part, files.cast);
    await nameKeys(files);
    await Promise.all([files.writer, files.place].map((path) => removeFile(path)));
    return { id, path: files.cast, bytes: whole.bytes, cut: entry.bytes - whole.bytes };
  } catch (thrown) {
    if (entry.bytes === 0) {
      await discard(files);
      return { id, path: '', bytes: 0, cut: 0 };
    }
    const skipped = thrown instanceof Error ? thrown.message : String(thrown);
    return { id, path: entry.path, bytes: entry.bytes, cut: 0, skipped };
  }
}

type Found = Pick<RecordingMetadata, 'castDurationMs' | 'cols' | 'rows' | 'failed' | 'commands'>;

/** How far the file is a cast, and what it tells. */
export async function measureCast(path: string): Promise<Found & { readonly bytes: number }> {
  const { info, events } = await readCast(path, { lenient: true });
  let bytes = info.end;
  let castDurationMs = 0;
  const told = new CastCommands();
  for await (const event of events) {
    bytes = event.end;
    castDurationMs = Math.round(event.atMs);
    told.accept(event);
  }
  const commands = told.commands.map((one) => ({
    ...one,
    startMs: Math.round(one.startMs),
    endMs: Math.round(one.endMs),
  }));
  return { bytes, castDurationMs, ...info.size, failed: told.failed, commands };
}

async function cutAt(path: string, bytes: number): Promise<void> {
  const handle = await open(path, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    await handle.truncate(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function describe(entry: LibraryEntry): Omit<RecordingMetadata, 'bytesWritten' | keyof Found> {
  const { metadata, startTime, modified, id } = entry;
  return {
    exitCode: null,
    durationMs: Math.max(0, Math.round(modified - startTime)),
    startTime,
    endTime: Math.round(modified),
    stopReason: 'recovered',
    recordingId: id,
    sessionId: metadata.sessionId ?? '',
    mode: metadata.mode ?? 'always',
    format: metadata.format ?? 'v2',
    title: metadata.title ?? null,
    redactions: 0,
    ...factsOfTerminal(metadata),
    ...(metadata.principal === undefined ? {} : { principal: metadata.principal }),
  };
}
