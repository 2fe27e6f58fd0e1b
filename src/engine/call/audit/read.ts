import { open } from 'node:fs/promises';
import type { AuditEntry } from './audit.ts';
import { dayOf, trailFiles, parseTrailRecord, type TrailRecord } from './records.ts';

export interface AuditQuery {
  /** Milliseconds since the epoch: files of earlier days are not even opened. */
  readonly since?: number | undefined;
  readonly fits: (record: AuditEntry) => boolean;
}

const chunkBytes = 64 * 1024;

/**
 * Reads backwards and stops as soon as it has enough: most queries ask for the end. Unreadable files are reported and
 * skipped.
 */
export async function newestRecords(
  root: string,
  { since, fits }: AuditQuery,
  most: number,
  signal: AbortSignal,
  unread: (error: Error) => void,
): Promise<TrailRecord[]> {
  const found: TrailRecord[] = [];
  const firstDay = since === undefined ? '' : new Date(since).toISOString().slice(0, 10);
  for await (const record of recordsBackwards(root, { firstDay }, signal, unread)) {
    if (!fits(record)) continue;
    found.push(record);
    if (found.length >= most) break;
  }
  return found;
}

/** The records of these days, the newest first. */
export async function* recordsBackwards(
  root: string,
  { firstDay = '', lastDay }: { readonly firstDay?: string; readonly lastDay?: string | undefined },
  signal: AbortSignal,
  unread: (error: Error) => void,
): AsyncGenerator<TrailRecord, void, void> {
  try {
    for (const file of trailFiles(root).reverse()) {
      const day = dayOf(file) ?? '';
      if (day < firstDay) break;
      if (lastDay !== undefined && day > lastDay) continue;
      for await (const line of readable(linesFromEnd(file, signal), signal, unread)) {
        const record = parseTrailRecord<TrailRecord>(line);
        if (record !== undefined) yield record;
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    unread(error as Error);
  }
}

/** As many lines as can be read. */
async function* readable(
  lines: AsyncGenerator<string>,
  signal: AbortSignal,
  unread: (error: Error) => void,
): AsyncGenerator<string> {
  try {
    yield* lines;
  } catch (error) {
    signal.throwIfAborted();
    unread(error as Error);
  }
}

/** The lines of a file, last one first, a chunk in memory at a time. A file removed meanwhile has none. */
async function* linesFromEnd(path: string, signal: AbortSignal): AsyncGenerator<string> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return;
  try {
    let { size: from } = await file.stat();
    // The start of the last chunk: its line begins in the chunk before.
    let rest: Buffer[] = [];
    while (from > 0) {
      signal.throwIfAborted();
      const length = Math.min(chunkBytes, from);
      from -= length;
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, from);
      let chunk = buffer.subarray(0, bytesRead);
      for (let at = chunk.lastIndexOf('\n'); at !== -1; at = chunk.lastIndexOf('\n')) {
        yield Buffer.concat([chunk.subarray(at + 1), ...rest]).toString('utf8');
        rest = [];
        chunk = chunk.subarray(0, at);
      }
      rest.unshift(chunk);
    }
    yield Buffer.concat(rest).toString('utf8');
  } finally {
    await file.close();
  }
}
